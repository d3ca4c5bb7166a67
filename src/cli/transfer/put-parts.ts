import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, isFailure } from '../failure.ts'
import type { Progress } from '../progress.ts'
import { persist } from '../retry.ts'
import { leashTo } from '../signal.ts'
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
 * Sends a large file in parts, several at a time, each read from the file where it lies. What the service has acknowledged is not sent
 * again, whoever was killed meanwhile.
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
    const { target, takeBack } = counted(aim)
    const upload = (await resume(states, print, target)) ?? (await start(states, path, print, target))
    if (!upload) return compare(file, print, target)
    try {
      const md5Checksum = await sendParts(file, print, upload, target)
      const stored = await complete(file, print, upload, md5Checksum, target)
      await states.remove()
      return stored
    } catch (error) {
      // Nothing of such an upload is worth going on with.
      if (isFailure(error, 'UPLOAD_NOT_FOUND', 'CHECKSUM_MISMATCH', 'DIGEST_DIFFERS', 'FILE_CHANGED')) {
        await abort(upload.state, target)
        await states.remove()
      }
      // It has ended meanwhile: its time was over, or somebody else has ended it.
      if (!isFailure(error, 'UPLOAD_NOT_FOUND') || attempt > target.place.client.patience.retries) throw error
      takeBack()
    }
  }
}

/** The same target, of which all that is told of progress can be taken back. */
function counted(target: Target): { target: Target; takeBack(): void } {
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
  return { target: { ...target, progress: counting }, takeBack: () => progress.skip(-sum) }
}

/** Something has the name already; the same bytes are as good as an upload. @throws PATH_EXISTS */
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
    // The file is another one now; what had arrived of it is of no use.
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

/** Null where something has the name already. */
async function start(states: UploadStates, path: string, print: Fingerprint, target: Target): Promise<Upload | null> {
  const { place, folder, name: filename } = target
  // One that begins and is not known here ends by itself, within a day.
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
 * Reads the file from its beginning to its end, for its MD5 and those of its parts, and sends the parts that are missing, which are
 * read once more from the memory of the system: so no part is ever held here.
 */
async function sendParts(
  file: FileHandle,
  print: Fingerprint,
  upload: Upload,
  target: Target,
  isAgain = false,
): Promise<string> {
  const { state, received } = upload
  const own = leashTo(target.place.client.patience.signal)
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
      // Whoever reads too far ahead reads twice from the disk.
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
  /** In base64, as Content-MD5 wants it. */
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
      // Bits that the network has turned.
      if (!isFailure(error, 'CHECKSUM_MISMATCH')) throw error
      if (attempt > client.patience.retries)
        throw new Failure('UNREACHABLE', `Part ${part.number} arrives in another shape than it is sent, every time.`)
    }
}

/** While an upload is being completed, perhaps for somebody who is gone, nothing else is done with it: waits for the end of that. */
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
      throw new Failure('DIGEST_DIFFERS', 'What the service has stored is not what was sent.', { sent: md5, received })
    } catch (error) {
      // The answer of an earlier attempt, or of an earlier process, may have been lost.
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
    `${failure.message} What has arrived waits for a day: --name sends nothing again.`,
    failure.details,
  )
}

/** Gives back what an upload holds; where that fails, it ends by itself. */
async function abort(state: UploadState, target: Target): Promise<void> {
  await target.place.uploads.abort(state.uploadId).catch(() => {})
}
