/**
 * The baseline of the storage benchmarks: the same bytes written directly to the same disk, with
 * MD5 and fsync, and nothing else.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bench, firstMatch } from './service.ts'

/** Writes a file from chunks in socket size, and syncs it. */
export async function writePlainly(
  path: string,
  source: AsyncIterable<Uint8Array>,
): Promise<string> {
  const hash = createHash('md5')
  const file = await open(path, 'wx')
  try {
    for await (const chunk of source) {
      hash.update(chunk)
      await file.write(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

export interface PlainServer {
  url: string
  pid: number | undefined
  close(): void
}

/**
 * In its own process, like the service that it is compared with, in the same folder and on the same
 * database.
 */
export async function startPlainServer({
  dir,
  databaseUrl,
  userId,
  bucketId,
  rootId,
}: Bench): Promise<PlainServer> {
  const script = join(dirname(fileURLToPath(import.meta.url)), 'plain-server.ts')
  const child = spawn(
    process.execPath,
    [script, dir, databaseUrl, JSON.stringify({ userId, bucketId, rootId })],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const close = () => void child.kill('SIGKILL')
  process.once('exit', close)
  return { url: await firstMatch(child, /listening at (\S+)/), pid: child.pid, close }
}
