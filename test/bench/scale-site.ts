import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { type BuiltService, startBuilt } from '../support/built-service.ts'
import { freePort } from '../support/free-port.ts'
import { type GaleraCluster, startGalera } from '../support/galera.ts'

/** A provider that is never called: the embedded sign-in allows only one instance. */
const PROVIDER = {
  OAUTH_BENCH_CLIENT_ID: 'satchel',
  OAUTH_BENCH_CLIENT_SECRET: 'secret',
  OAUTH_BENCH_AUTHORIZE_URL: 'https://sso.example.com/authorize',
  OAUTH_BENCH_TOKEN_URL: 'https://sso.example.com/token',
  OAUTH_BENCH_USERINFO_URL: 'https://sso.example.com/userinfo',
}

/** A process that can be killed and restarted. */
export interface Killable {
  name: string
  kill(): Promise<void>
  start(): Promise<void>
}

/**
 * Several instances that share a Redis and a store. Each has the nodes of a cluster in another
 * order.
 */
export interface ScaleSite {
  urls: string[]
  instances: Killable[]
  nodes: Killable[]
  redis: Killable
  blobDir: string
  cluster: GaleraCluster
  /** The processes of the instances, and of the nodes. */
  pids(): { instances: number[]; nodes: number[] }
  /** A connection to all nodes, for checks. */
  db: Db
  /** The output of all instances, including killed ones. */
  said(): string
  stop(): Promise<void>
}

export async function openScaleSite(
  size: number,
  more: Record<string, string>,
): Promise<ScaleSite> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-scale-'))
  const blobDir = join(dir, 'blobs')
  const cluster = await startGalera(3)
  const redis = await startRedis()
  const settings = {
    ...PROVIDER,
    REDIS_URL: redis.url,
    BLOB_DIR: blobDir,
    SECRET_KEY: 'k'.repeat(32),
    LOG_LEVEL: 'warn',
    SWEEP_SECONDS: '5',
    LEASE_SECONDS: '10',
    ...more,
  }
  let said = ''
  const instances: (Killable & { url: string; pid(): number })[] = []
  for (let i = 0; i < size; i++) {
    const port = await freePort()
    const dataDir = join(dir, `instance-${i}`)
    mkdirSync(dataDir)
    const own = { ...settings, DATA_DIR: dataDir, PORT: String(port), DATABASE_URL: cluster.url(i) }
    let service: BuiltService | undefined
    instances.push({
      name: `instance ${i + 1}`,
      url: `http://127.0.0.1:${port}`,
      pid: () => service?.pid ?? 0,
      async kill() {
        await service?.end('SIGKILL')
        said += service?.said() ?? ''
      },
      async start() {
        // Restarts it like a service manager while the database is unavailable.
        for (let tries = 1; ; tries++) {
          try {
            service = await startBuilt(own)
            return
          } catch (error) {
            if (tries === 30) throw error
            await sleep(1000)
          }
        }
      },
    })
  }
  await Promise.all(instances.map(instance => instance.start()))
  const db = openDatabase(readConfig({ DATABASE_URL: cluster.url(0) }).database, { pool: 4 })
  return {
    urls: instances.map(({ url }) => url),
    instances,
    nodes: cluster.nodes.map((node, i) => ({
      name: `node ${i + 1}`,
      kill: node.kill,
      start: node.start,
    })),
    redis,
    blobDir,
    cluster,
    db,
    pids: () => ({
      instances: instances.map(({ pid }) => pid()),
      nodes: cluster.nodes.map(({ pid }) => pid),
    }),
    said: () => said,
    async stop() {
      await db.close()
      await Promise.all(instances.map(instance => instance.kill()))
      await redis.kill()
      await cluster.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function startRedis(): Promise<Killable & { url: string }> {
  const port = await freePort()
  let server: ChildProcess | undefined
  const start = async () => {
    server = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], {
      stdio: 'ignore',
    })
    await once(server, 'spawn')
  }
  await start()
  return {
    name: 'Redis',
    url: `redis://127.0.0.1:${port}`,
    start,
    async kill() {
      if (!server || server.exitCode !== null || server.signalCode !== null) return
      const gone = once(server, 'exit')
      server.kill('SIGKILL')
      await gone
    },
  }
}
