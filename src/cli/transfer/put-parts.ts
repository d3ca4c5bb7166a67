import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, isFailure } from '../failure.ts'
import type { Progress } from '../progress.ts'
import { persist } from '../retry.ts'
import { linkSignal } from '../signal.ts'
import { observed } from './body.ts'
import { type Fingerprint, hashOf, readRange, refuseChanged } from './local-file.ts'
import { isThere, pathExists, type Stored, type Target } from './target.ts'
import { type UploadState, type UploadStates, uploadStateOf } from './upload-state.ts'
import { watch } from './watchdog.ts'

interface Upload {
  state: UploadState
  /** Numbers of the parts that the service has. */
  received: Set<number>
}

/**
 * Sends a large file in parts, several at a time, read directly from the file. Acknowledged parts are not sent again, even after either
 * side was killed.
 */
export async function putInParts(file: FileHandle, path: string, print: Fingerprint, aim: Target): Promise<Stored> {
  const states = await uploadStateOf(path, aim.place)
  return states.alone(() => putAlone(file, path, print, aim, states))
}

async function putAlone(
  file: FileHandle,
  path: string,
  print: Fingerprint,
  aim: Target,
  states: UploadStates,
): Promise<Stored> {
  for (let attempt = 1; ; attempt++) {
    const { target, revert } = counted(aim)
    const upload = (await resume(states, print, target)) ?? (await start(states, path, print, target))
    if (!upload) return compare(file, print, target)
    try {
      const md5Checksum = await sendParts(file, print, upload, target)
      const stored = await complete(file, print, upload, md5Checksum, target)
      await states.remove()
      return stored
    } catch (error) {
      // Such an upload cannot be resumed.
      if (isFailure(error, 'UPLOAD_NOT_FOUND', 'CHECKSUM_MISMATCH', 'DIGEST_DIFFERS', 'FILE_CHANGED')) {
        await abort(upload.state, target)
        await states.remove()
      }
      // It expired or was aborted meanwhile.
      if (!isFailure(error, 'UPLOAD_NOT_FOUND') || attempt > target.place.client.patience.retries) throw error
      revert()
    }
  }
}

/** The same target, with progress that can be reverted. */
function counted(target: Target): { target: Target; revert(): void } {
  const { progress } = target
  let sum = 0
  const counting: Progress = {
    ...progress,
    move(count) {
      sum += count
      progress.move(count)
    },
    skip(count) {
      sum += count
      progress.skip(count)
    },
  }
  return { target: { ...target, progress: counting }, revert: () => progress.skip(-sum) }
}

/** For a path that exists: the same bytes count as uploaded. @throws PATH_EXISTS */
async function compare(file: FileHandle, { size }: Fingerprint, target: Target): Promise<Stored> {
  const md5Checksum = (await hashOf(file, size, target.place.client.patience.signal)).digest('hex')
  if (!(await isThere(target, size, md5Checksum))) throw pathExists(target)
  target.progress.skip(size)
  return { size, md5Checksum, status: 'unchanged' }
}

async function resume(states: UploadStates, print: Fingerprint, target: Target): Promise<Upload | null> {
  const state = await states.read()
  if (!state) return null
  if (state.size !== print.size || state.mtimeMs !== print.mtimeMs) {
    // The file has changed, so its parts are useless.
    await abort(state, target)
    await states.remove()
    return null
  }
  try {
    return { state, received: new Set(await target.place.uploads.received(state.uploadId)) }
  } catch (error) {
    if (!isFailure(error, 'UPLOAD_NOT_FOUND')) throw error
    await states.remove()
    return null
  }
}

/** Null if the path exists. */
async function start(states: UploadStates, path: string, print: Fingerprint, target: Target): Promise<Upload | null> {
  const { place, folder, name: filename } = target
  // If the response is lost, the upload expires within a day.
  const started = await place.uploads.start({ folder, filename, size: print.size }).catch(error => {
    if (isFailure(error, 'PATH_EXISTS')) return null
    throw error
  })
  if (!started) return null
  const { id: uploadId, ...more } = started
  const state: UploadState = {
    ...print,
    ...more,
    url: place.client.url,
    workspaceId: place.workspaceId,
    path,
    uploadId,
  }
  await states.write(state)
  return { state, received: new Set() }
}

/**
 * Reads the whole file for its MD5 and those of its parts, and sends the missing parts, which are read again from the page cache: no
 * part is held in memory.
 */
async function sendParts(
  file: FileHandle,
  print: Fingerprint,
  upload: Upload,
  target: Target,
  isAgain = false,
): Promise<string> {
  const { state, received } = upload
  const own = linkSignal(target.place.client.patience.signal)
  const { signal } = own
  setMaxListeners(0, signal)
  const whole = createHash('md5')
  const running = new Set<Promise<void>>()
  try {
    for (let number = 1; number <= state.partCount; number++) {
      const at = (number - 1) * state.chunkSize
      const size = Math.min(state.chunkSize, print.size - at)
      const part = createHash('md5')
      for await (const chunk of readRange(file, at, size)) {
        signal.throwIfAborted()
        whole.update(chunk)
        part.update(chunk)
      }
      if (received.has(number)) {
        if (!isAgain) target.progress.skip(size)
        continue
      }
      const sending = target
        .parts(() => sendPart({ file, number, at, size, md5: part.digest('base64') }, upload, target, signal))
        .catch(own.end)
        .finally(() => running.delete(sending))
      running.add(sending)
      // Reading too far ahead would read twice from the disk.
      if (running.size > target.parts.concurrency + 1) await Promise.race(running)
    }
    await Promise.all(running)
    signal.throwIfAborted()
  } catch (error) {
    own.end(error)
    await Promise.all(running)
    throw signal.reason
  } finally {
    own.release()
  }
  await refuseChanged(file, print)
  return whole.digest('hex')
}

interface Part {
  file: FileHandle
  number: number
  at: number
  size: number
  /** In base64, for Content-MD5. */
  md5: string
}

async function sendPart(part: Part, upload: Upload, target: Target, signal: AbortSignal): Promise<void> {
  const { client } = target.place
  const send = async () => {
    const watchdog = watch(signal, new URL(client.url).host)
    const observer = { progress: target.progress, watchdog, sent: 0 }
    try {
      await client.rest(`${target.place.route}/uploads/${upload.state.uploadId}/parts/${part.number}`, {
        method: 'PUT',
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(part.size),
          'content-md5': part.md5,
        },
        body: observed(readRange(part.file, part.at, part.size), observer),
        signal: watchdog.signal,
        limitMs: undefined,
      })
    } catch (error) {
      target.progress.move(-observer.sent)
      throw error
    } finally {
      watchdog.stop()
    }
  }
  for (let attempt = 1; ; attempt++)
    try {
      await whenIdle(() => persist(send, 'repeatable', { ...client.patience, signal }), signal)
      upload.received.add(part.number)
      return
    } catch (error) {
      // Corrupted in transit.
      if (!isFailure(error, 'CHECKSUM_MISMATCH')) throw error
      if (attempt > client.patience.retries)
        throw new Failure('UNREACHABLE', `Part ${part.number} is corrupted in transit every time.`)
    }
}

/** Waits while the service completes the upload, perhaps for an earlier request, and refuses others with UPLOAD_BUSY. */
async function whenIdle<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!isFailure(error, 'UPLOAD_BUSY')) throw error
      await sleep((error.retryAfter ?? 1) * 1000, undefined, { signal })
    }
}

const MAX_ROUNDS = 3

async function complete(
  file: FileHandle,
  print: Fingerprint,
  upload: Upload,
  md5: string,
  target: Target,
): Promise<Stored> {
  const { place, folder, name: filename } = target
  const { signal } = place.client.patience
  const finish = () => place.uploads.complete(upload.state.uploadId, { folder, filename, md5 })
  const stored: Stored = { size: print.size, md5Checksum: md5, status: 'uploaded' }
  for (let round = 1; ; round++)
    try {
      const received = await target.progress.checking(whenIdle(finish, signal))
      if (received === md5) return stored
      throw new Failure('DIGEST_DIFFERS', 'The stored file differs from what was sent.', { sent: md5, received })
    } catch (error) {
      // The response to an earlier attempt or process may have been lost.
      if (isFailure(error, 'UPLOAD_NOT_FOUND') && (await isThere(target, print.size, md5))) return stored
      if (isFailure(error, 'PATH_EXISTS')) {
        if (!(await isThere(target, print.size, md5))) throw stillThere(target)
        await abort(upload.state, target)
        return { ...stored, status: 'unchanged' }
      }
      if (!isFailure(error, 'UPLOAD_INCOMPLETE') || round >= MAX_ROUNDS) throw error
      const { missing } = error.details
      if (Array.isArray(missing)) for (const number of missing) upload.received.delete(Number(number))
      await sendParts(file, print, upload, target, true)
    }
}

const stillThere = (target: Target): Failure => {
  const failure = pathExists(target)
  return new Failure(
    failure.code,
    `${failure.message} The uploaded parts are kept for a day: with another --name nothing is sent again.`,
    failure.details,
  )
}

/** Releases an upload; if that fails, it expires by itself. */
async function abort(state: UploadState, target: Target): Promise<void> {
  await target.place.uploads.abort(state.uploadId).catch(() => {})
}
