import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'

/** A real Azurite, in its own process. */
export interface Azurite {
  connectionString: string
  pid: number
  stop(): Promise<void>
}

const program = resolve('test/azurite/node_modules/azurite/dist/src/blob/main.js')
const account = 'satchel'
/** Stays the same when it restarts on the same folder. */
const key = randomBytes(64).toString('base64')

/**
 * Starts Azurite on an empty folder, or on the data of an earlier one.
 * @param options `dir`: kept when it stops. Otherwise its data is deleted.
 */
export async function startAzurite({
  dir,
  port,
}: {
  dir?: string
  port?: number
} = {}): Promise<Azurite> {
  const folder = dir ?? mkdtempSync(join(tmpdir(), 'satchel-azurite-'))
  const onPort = port || (await freePort())
  const args = [
    '--location',
    folder,
    '--blobPort',
    String(onPort),
    '--skipApiVersionCheck',
    '--disableTelemetry',
  ]
  const child = spawn(process.execPath, [program, ...args, '--silent'], {
    env: { PATH: process.env.PATH ?? '', AZURITE_ACCOUNTS: `${account}:${key}` },
    stdio: 'ignore',
  })
  const gone = once(child, 'exit')
  const url = `http://127.0.0.1:${onPort}/${account}`
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  for (const end = Date.now() + 20_000; !(await answers()); await sleep(50))
    if (Date.now() > end || child.exitCode !== null) throw new Error('Azurite does not start.')
  return {
    connectionString: `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=${url};`,
    pid: child.pid ?? 0,
    async stop() {
      // Azurite writes its tables when it is stopped. If it is killed, it loses containers that it
      // has acknowledged.
      child.kill('SIGTERM')
      child.kill('SIGCONT')
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
      await gone
      clearTimeout(timer)
      if (!dir) rmSync(folder, { recursive: true, force: true })
    },
  }
}
