import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../support/free-port.ts'

/** The address of a store, and its credentials. */
export interface S3Server {
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
}

/**
 * Ceph's object gateway. One object store daemon keeps its data in memory (Debian: radosgw,
 * ceph-mon, ceph-osd).
 */
export interface Radosgw extends S3Server {
  port: number
  /** The process of the gateway, while it runs. */
  pid(): number
  /** Stops the gateway, and keeps its data. */
  end(): Promise<void>
  /** Starts the gateway again on the same port. */
  begin(): Promise<void>
  stop(): Promise<void>
}

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']

/** The programs that are not installed on this machine. Empty if there are all of them. */
export const missingForS3: string[] = [
  'radosgw',
  'radosgw-admin',
  'ceph',
  'ceph-conf',
  'ceph-mon',
  'ceph-osd',
  'monmaptool',
].filter(program => !folders.some(folder => existsSync(join(folder, program))))

const run = promisify(execFile)

/**
 * Settings of a cluster with one member: no replication, no authentication between its programs,
 * and no quorum to wait for.
 */
const settings = (dir: string, monitor: number, gateway: number) => `
[global]
fsid = ${randomUUID()}
run dir = ${dir}
admin socket = ${dir}/$name.$pid.asok
log file = ${dir}/$name.log
mon cluster log file = ${dir}/cluster.log
pid file = ${dir}/$name.pid
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms bind ipv6 = false
mon host = [v2:127.0.0.1:${monitor}]
public addr = 127.0.0.1
mon data = ${dir}/mon
mon data avail crit = 0
mon data avail warn = 0
mon allow pool size one = true
mon max pg per osd = 10000
paxos propose interval = 0.02
paxos min wait = 0.01
osd data = ${dir}/osd
osd objectstore = memstore
memstore device bytes = 8589934592
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
[client.rgw]
rgw data = ${dir}/rgw
rgw frontends = beast endpoint=127.0.0.1:${gateway}
rgw rados pool pg num min = 1
rgw thread pool size = 128
rgw dns name = s3.localhost
rgw user max buckets = 100000
rgw s3 auth use sts = true
rgw sts key = abcdefghijklmnop
`

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  child.kill('SIGCONT')
  await gone
}

export async function startRadosgw(): Promise<Radosgw> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-ceph-'))
  const [monitor, port] = [await freePort(), await freePort()]
  const conf = `${dir}/ceph.conf`
  for (const folder of ['mon', 'osd', 'rgw']) mkdirSync(`${dir}/${folder}`)
  writeFileSync(conf, settings(dir, monitor, port))
  const children: ChildProcess[] = []
  const [id, secret] = [randomBytes(8).toString('hex'), randomBytes(16).toString('hex')]
  const env = { PATH: folders.join(delimiter), CEPH_CONF: conf }
  const start = (program: string, args: string[]) => {
    const out = openSync(`${dir}/${program}.out`, 'a')
    const child = spawn(program, [...args, '-c', conf, '-f'], { env, stdio: ['ignore', out, out] })
    children.push(child)
    return child
  }
  const ask = (program: string, args: string[]) =>
    run(program, ['-c', conf, ...args], { env, timeout: 60_000 })
  const stop = async () => {
    for (const child of children.reverse()) await endOf(child)
    rmSync(dir, { recursive: true, force: true })
  }

  const endpoint = `http://127.0.0.1:${port}`
  let gateway: ChildProcess
  const begin = async () => {
    gateway = start('radosgw', ['-n', 'client.rgw'])
    const answers = () =>
      fetch(endpoint).then(
        ({ status }) => status === 200,
        () => false,
      )
    for (const end = Date.now() + 60_000; !(await answers()); await sleep(50))
      if (Date.now() > end || gateway.exitCode !== null) throw new Error('radosgw does not start.')
  }

  try {
    const uuid = randomUUID()
    const fsid = (await ask('ceph-conf', ['--lookup', 'fsid'])).stdout.trim()
    const map = `${dir}/monmap`
    await run(
      'monmaptool',
      ['--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${monitor}]`, map],
      { env },
    )
    await ask('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', map])
    start('ceph-mon', ['-i', 'a'])
    await ask('ceph', ['osd', 'new', uuid])
    await ask('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', uuid])
    start('ceph-osd', ['-i', '0'])
    const user = ['user', 'create', '--uid=satchel', '--display-name=satchel', '--max-buckets=0']
    await ask('radosgw-admin', [
      '-n',
      'client.rgw',
      ...user,
      `--access-key=${id}`,
      `--secret-key=${secret}`,
      // For temporary keys of this user.
      '--caps=user-policy=*',
    ])
    await begin()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    endpoint,
    port,
    accessKeyId: id,
    secretAccessKey: secret,
    pid: () => gateway.pid ?? 0,
    end: () => endOf(gateway),
    begin,
    stop,
  }
}
