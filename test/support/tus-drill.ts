import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Upload, type UploadOptions } from 'tus-js-client'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { openStoreOf } from '../../src/services/installation.ts'
import { startBuilt } from './built-service.ts'
import { expectHealed } from './consistency.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { type Person, signInTo } from './harness.ts'

const MiB = 1024 * 1024

export interface TusDrill {
  /** The size of the file. */
  size: number
  /**
   * The interruptions, each after an equal share of the file: the connection breaks, or the service
   * is killed and another instance takes over.
   */
  breaks: ('cut' | 'kill')[]
  /** The retry delays of tus-js-client. */
  options?: Partial<UploadOptions>
  settings?: Record<string, string>
  say?: (line: string) => void
}

export interface TusFigures {
  seconds: number
  /** The bytes sent to the service, relative to the size of the file. */
  sent: number
  /** The peak memory of an instance, in MiB. */
  memory: number
}

/** A file in which all blocks differ. @returns its SHA-256 */
async function makeFile(path: string, size: number): Promise<string> {
  const file = await open(path, 'w')
  const block = randomBytes(Math.min(MiB, size))
  const hash = createHash('sha256')
  for (let at = 0; at < size; at += block.length) {
    block.writeBigUInt64LE(BigInt(at))
    const piece = block.subarray(0, Math.min(block.length, size - at))
    hash.update(piece)
    await file.write(piece)
  }
  await file.close()
  return hash.digest('hex')
}

async function sha256At(person: Person, url: string, name: string): Promise<string> {
  const json = { object: name }
  const headers = { cookie: person.cookie, 'content-type': 'application/json' }
  const asked = await fetch(`${url}/api/files/quick_share`, {
    method: 'POST',
    headers,
    body: JSON.stringify(json),
  })
  const { response } = (await asked.json()) as { response: { sharing_token: string } }
  const { status, headers: found } = await fetch(`${url}/api/d/${response.sharing_token}`, {
    redirect: 'manual',
  })
  if (status !== 302) throw new Error(`The download was answered with ${status}.`)
  const place = new URL(found.get('location') ?? '')
  // The address of the service, whose port has changed by now, or of the store.
  const answer = await fetch(
    place.pathname.startsWith('/api/') ? new URL(place.pathname + place.search, url) : place,
  )
  if (answer.status !== 200) throw new Error(`The bytes were answered with ${answer.status}.`)
  const { body } = answer
  const hash = createHash('sha256')
  for await (const chunk of body ?? []) hash.update(chunk)
  return hash.digest('hex')
}

/** The peak memory of a process so far, in MiB. */
const mostMemory = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/**
 * Uploads one file with tus-js-client, while connections break and services are killed, and
 * compares the stored file.
 * @throws if the file differs, or if anything is left behind
 */
export async function drillTus({
  size,
  breaks,
  options = {},
  settings = {},
  say = () => {},
}: TusDrill): Promise<TusFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'satchel-tus-'))
  const path = join(folder, 'source.bin')
  const expected = await makeFile(path, size)
  const given = {
    DATA_DIR: join(folder, 'data'),
    CONSOLE: 'false',
    SWEEP_SECONDS: '1',
    ...settings,
  }
  mkdirSync(given.DATA_DIR)
  let instance = await startBuilt(given)
  const db = openDatabase(readConfig(given).database, { pool: 1 })
  await db.Plan.update(
    { maxFileSizeBytes: 2 ** 43, maxTotalStorageBytes: 2 ** 43 },
    { where: { id: 'free' } },
  )
  const alice = await signInTo(db, instance.url, 'alice')
  const targetOf = (url: string) => ({ host: '127.0.0.1', port: Number(new URL(url).port) })
  const proxy = await startFlakyProxy(targetOf(instance.url))
  const left = [...breaks]
  let breaking: Promise<void> = Promise.resolve()
  let memory = 0
  const began = performance.now()
  const since = () => (performance.now() - began) / 1000
  const breakNext = async (how: 'cut' | 'kill' | undefined) => {
    say(`${since().toFixed(1)} s: ${how}`)
    memory = Math.max(memory, mostMemory(instance.pid))
    if (how === 'kill') {
      await instance.end('SIGKILL')
      instance = await startBuilt(given)
      Object.assign(proxy.target, targetOf(instance.url))
    }
    proxy.cut()
  }
  let watching: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      let isBreaking = false
      const watch = async () => {
        const due = breaks.length - left.length + 1
        if (isBreaking || left.length === 0 || proxy.sent() < (size / (breaks.length + 1)) * due)
          return
        isBreaking = true
        breaking = breakNext(left.shift())
        await breaking
        isBreaking = false
      }
      watching = setInterval(() => watch().catch(reject), 2)
      const upload = new Upload(createReadStream(path), {
        endpoint: `http://127.0.0.1:${proxy.port}/api/tus`,
        headers: { cookie: alice.cookie },
        metadata: { filename: 'drill.bin', filetype: 'application/octet-stream' },
        retryDelays: Array(200).fill(500),
        onSuccess: () => resolve(),
        onError: reject,
        ...options,
      })
      upload.start()
    })
    await breaking
    const seconds = since()
    memory = Math.max(memory, mostMemory(instance.pid))
    const found = await sha256At(alice, instance.url, 'drill.bin')
    if (found !== expected) throw new Error(`What was stored differs: ${found}, not ${expected}.`)
    if (left.length > 0)
      throw new Error(`It was sent before all was broken: ${left.join()} are left.`)
    await expectHealed({ db, store: await openStoreOf(readConfig(given), db) })
    return { seconds, sent: proxy.sent() / size, memory }
  } finally {
    clearInterval(watching)
    await proxy.close()
    await instance.end('SIGKILL')
    await db.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
