import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

const PROVIDERS = [
  '/usr/lib/galera/libgalera_smm.so',
  '/usr/lib/galera-4/libgalera_smm.so',
  '/usr/lib64/galera-4/libgalera_smm.so',
]
const provider = PROVIDERS.find(existsSync)
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
const find = (program: string) => folders.map(folder => join(folder, program)).find(existsSync)

/** Requirements of a cluster that this machine lacks, or an empty list. */
export const missingForGalera: string[] = [
  ...(provider ? [] : ['the Galera library (Debian: galera-4)']),
  ...['mariadbd', 'mariadb-install-db', 'mariabackup', 'socat'].filter(program => !find(program)),
]

export interface GaleraNode {
  port: number
  /** The URL of the administrator, without a database name. */
  adminUrl: string
  kill(): Promise<void>
  /** Starts the node again. Resolves once it has caught up and joined the cluster. */
  start(): Promise<void>
  /** Freezes the node, or lets it continue. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  readonly isUp: boolean
  readonly pid: number
}

export interface GaleraCluster {
  nodes: GaleraNode[]
  /** The URL of a database with a list of nodes that starts with this node. */
  url(first: number, count?: number): string
  stop(): Promise<void>
}

interface Ports {
  sql: number
  group: number
  ist: number
  sst: number
}

/** Reads one status or variable of a server. */
export async function statusOf(url: string, name: string): Promise<string | undefined> {
  const on = await createConnection({ uri: url, connectTimeout: 2000 })
  try {
    const [rows] = await on.query<RowDataPacket[]>(`SHOW GLOBAL STATUS LIKE '${name}'`)
    return rows[0]?.Value as string | undefined
  } finally {
    on.destroy()
  }
}

/** A Galera cluster of MariaDB servers on loopback, each with its own data folder. */
export async function startGalera(size = 3, more: string[] = []): Promise<GaleraCluster> {
  const root = mkdtempSync(join(tmpdir(), 'satchel-galera-'))
  const ports: Ports[] = []
  for (let i = 0; i < size; i++)
    ports.push({
      sql: await freePort(),
      group: await freePort(),
      ist: await freePort(),
      sst: await freePort(),
    })
  const group = `gcomm://${ports.map(each => `127.0.0.1:${each.group}`).join(',')}`

  const install = join(root, 'installed')
  execFileSync(
    find('mariadb-install-db') ?? '',
    [
      '--no-defaults',
      `--datadir=${install}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
      `--user=${userInfo().username}`,
    ],
    { stdio: 'ignore' },
  )

  const nodes = ports.map((own, i) => nodeOf(join(root, `node${i + 1}`), own, group, i, more))
  const [first, ...others] = nodes as [Bootstrapped, ...Bootstrapped[]]
  await first.bootstrap(install)
  // Other nodes start from copies of the stopped first node. This avoids full state transfers,
  // which take ten seconds each.
  await first.stop()
  for (const i of others.keys())
    cpSync(join(root, 'node1', 'db'), join(root, `node${i + 2}`, 'db'), { recursive: true })
  await first.bootstrap()
  // Sequentially, because one of two nodes that join together can wait forever.
  for (const other of others) await other.start()

  const admin = await createConnection(first.adminUrl)
  await admin.query('CREATE DATABASE satchel')
  // Without the privileges that bypass read_only.
  await admin.query("CREATE USER satchel@'%'")
  await admin.query("GRANT ALL ON satchel.* TO satchel@'%'")
  await admin.end()
  return {
    nodes,
    url(from, count = size) {
      const list = Array.from(
        { length: count },
        (_, i) => `127.0.0.1:${ports[(from + i) % size]?.sql}`,
      )
      return `mysql://satchel@${list.join(',')}/satchel`
    },
    async stop() {
      await Promise.all(nodes.map(node => node.kill()))
      rmSync(root, { recursive: true, force: true })
    },
  }
}

type Bootstrapped = GaleraNode & { bootstrap(from?: string): Promise<void>; stop(): Promise<void> }

function nodeOf(
  dir: string,
  own: Ports,
  group: string,
  index: number,
  more: string[],
): Bootstrapped {
  let server: ChildProcess | undefined
  const data = join(dir, 'db')
  const adminUrl = `mysql://root@127.0.0.1:${own.sql}`
  const settings = [
    `user=${userInfo().username}`,
    `datadir=${data}`,
    `tmpdir=${dir}`,
    `socket=${dir}/socket`,
    `pid-file=${dir}/pid`,
    'bind-address=127.0.0.1',
    `port=${own.sql}`,
    'binlog-format=ROW',
    'default-storage-engine=InnoDB',
    'innodb-autoinc-lock-mode=2',
    // Recommended by Galera's manual: a node that crashes receives its unsynced data from the
    // others.
    'innodb-flush-log-at-trx-commit=2',
    'innodb-buffer-pool-size=128M',
    'innodb-log-file-size=64M',
    'max-connections=300',
    'wsrep-on=ON',
    `wsrep-provider=${provider}`,
    'wsrep-cluster-name=satchel',
    `wsrep-cluster-address=${group}`,
    `wsrep-node-name=node${index + 1}`,
    'wsrep-node-address=127.0.0.1',
    // Its donor keeps serving during a transfer.
    'wsrep-sst-method=mariabackup',
    'wsrep-sst-auth=root:',
    `wsrep-sst-receive-address=127.0.0.1:${own.sst}`,
    `wsrep-provider-options="${[
      'gcache.size=128M',
      `gmcast.listen_addr=tcp://127.0.0.1:${own.group}`,
      `ist.recv_addr=127.0.0.1:${own.ist}`,
      // The cluster state survives a kill of all nodes.
      'pc.recovery=true',
    ].join(';')}"`,
    ...more,
  ]
  mkdirSync(dir)
  writeFileSync(join(dir, 'my.cnf'), `[mysqld]\n${settings.join('\n')}\n`)
  const options = [`--defaults-file=${dir}/my.cnf`]
  const output = join(dir, 'log.err')

  /**
   * The last position in the data of a killed server, determined before a start like MariaDB's
   * systemd unit does.
   */
  function recovered(): string | undefined {
    execFileSync(
      find('mariadbd') ?? '',
      [...options, '--wsrep-recover', `--log-error=${dir}/recover.err`],
      {
        stdio: 'ignore',
      },
    )
    const found = [
      ...readFileSync(`${dir}/recover.err`, 'utf8').matchAll(/Recovered position:\s*(\S+)/g),
    ].at(-1)?.[1]
    rmSync(`${dir}/recover.err`, { force: true })
    return found
  }

  async function run(...more: string[]): Promise<void> {
    const child = spawn(
      find('mariadbd') ?? '',
      [...options, `--log-error=${output}`, ...more],
      // The scripts of a state transfer also look for their tools there.
      { stdio: 'ignore', env: { ...process.env, PATH: folders.join(delimiter) }, detached: true },
    )
    server = child
    const joined = async () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(
          `A node of the cluster ended (${child.exitCode ?? child.signalCode}): ${existsSync(output) ? readFileSync(output, 'utf8').slice(-9000) : 'without a log'}`,
        )
      return (
        (await statusOf(adminUrl, 'wsrep_local_state_comment').catch(() => undefined)) === 'Synced'
      )
    }
    await until(joined, 45_000, 100)
  }

  async function kill(): Promise<void> {
    const child = server
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    // Kills the process group, because other processes carry out state transfers.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await gone
  }

  return {
    port: own.sql,
    adminUrl,
    get pid() {
      return server?.pid ?? 0
    },
    get isUp() {
      return server !== undefined && server.exitCode === null && server.signalCode === null
    },
    async bootstrap(from) {
      if (from) cpSync(from, data, { recursive: true })
      await run('--wsrep-new-cluster')
    },
    async start() {
      // A transfer fails when its donor dies, and some nodes then wait forever, as Galera instructs
      // them.
      for (let tries = 1; ; tries++) {
        const position = recovered()
        try {
          return await run(...(position ? [`--wsrep-start-position=${position}`] : []))
        } catch (error) {
          if (tries === 4) throw error
          await kill()
        }
      }
    },
    async stop() {
      const gone = server && once(server, 'exit')
      server?.kill('SIGTERM')
      await gone
    },
    kill,
    signal(name) {
      server?.kill(name)
    },
  }
}
