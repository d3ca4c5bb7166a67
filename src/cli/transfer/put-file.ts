import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Failure, isFailure } from '../failure.ts'
import type { RemoteFile } from '../place.ts'
import { persist } from '../retry.ts'
import { linkSignal } from '../signal.ts'
import { framed, observed, slices } from './body.ts'
import { uploadForm } from './form.ts'
import { fingerprintOf, hashOf, refuseChanged } from './local-file.ts'
import { putInParts } from './put-parts.ts'
import { isThere, pathExists, pathOf, type Stored, type Target } from './target.ts'
import { watch } from './watchdog.ts'

/** Up to this size a file is sent in one request: three round trips would cost more than a retry. */
export const SMALL = 8 * 1024 * 1024

/** @param known the remote file of this name, if it was looked up. @throws PATH_EXISTS, FILE_CHANGED */
export async function putFile(path: string, target: Target, known: RemoteFile | undefined): Promise<Stored> {
  const { patience } = target.place.client
  const file = await open(path)
  try {
    const print = await fingerprintOf(file)
    if (known && known.size === print.size) {
      const md5Checksum = (await hashOf(file, print.size, patience.signal)).digest('hex')
      if (known.md5Checksum === md5Checksum) {
        target.progress.skip(print.size)
        return { size: print.size, md5Checksum, status: 'unchanged' }
      }
    }
    if (known) throw pathExists(target)
    if (print.size > SMALL) return await putInParts(file, path, print, target)
    const bytes = await file.readFile()
    await refuseChanged(file, print)
    return await putBytes(bytes, target)
  } finally {
    await file.close()
  }
}

/** The response of either upload route. */
type UploadAnswer = { file: { md5_checksum: string } } | [{ md5_checksum: string }]

const md5In = (answer: UploadAnswer): string => (Array.isArray(answer) ? answer[0] : answer.file).md5_checksum

/** Uploads bytes in one request, and retries it. */
export async function putBytes(bytes: Uint8Array, target: Target): Promise<Stored> {
  const { place, progress } = target
  const { client } = place
  const md5Checksum = createHash('md5').update(bytes).digest('hex')
  const { type, head, tail } = uploadForm(target.folder, target.name)
  const length = head.length + bytes.length + tail.length
  let mayHaveArrived = false
  const upload = async () => {
    const watchdog = watch(client.patience.signal, new URL(client.url).host)
    const observer = { progress, watchdog, sent: 0 }
    try {
      return await client.rest<UploadAnswer>(`${place.route}/upload`, {
        method: 'POST',
        headers: { 'content-type': type, 'content-length': String(length) },
        body: framed(head, observed(slices(bytes), observer), tail),
        signal: watchdog.signal,
        limitMs: undefined,
      })
    } catch (error) {
      mayHaveArrived ||= isFailure(error, 'UNREACHABLE', 'UNAVAILABLE')
      progress.move(-observer.sent)
      throw error
    } finally {
      watchdog.stop()
    }
  }
  try {
    const received = md5In(await persist(upload, 'repeatable', client.patience))
    if (received !== md5Checksum) throw await undo(target, md5Checksum, received)
    return { size: bytes.length, md5Checksum, status: 'uploaded' }
  } catch (error) {
    if (!isFailure(error, 'PATH_EXISTS') || !(await isThere(target, bytes.length, md5Checksum))) throw error
    progress.skip(bytes.length)
    return { size: bytes.length, md5Checksum, status: mayHaveArrived ? 'uploaded' : 'unchanged' }
  }
}

/** Uploads a stream of unknown length in one request, without a retry. Ends early if it exceeds the quota. */
export async function putStream(source: AsyncIterable<Uint8Array>, target: Target): Promise<Stored> {
  const { place, progress } = target
  const { client } = place
  const capacity = await place.capacity().catch(error => {
    // A key with the scope to write may lack the scope to read; then the service enforces the quota.
    if (isFailure(error, 'INSUFFICIENT_SCOPE')) return undefined
    throw error
  })
  const { signal, end, release } = linkSignal(client.patience.signal)
  const hash = createHash('md5')
  let size = 0
  async function* hashed() {
    for await (const chunk of source) {
      size += chunk.length
      if (capacity && size > capacity.bytes) {
        end(capacity.refusal)
        throw capacity.refusal
      }
      hash.update(chunk)
      yield chunk
    }
  }
  const { type, head, tail } = uploadForm(target.folder, target.name)
  // Standard input may be slow; the service enforces its own timeout.
  const watchdog = { signal, touch() {}, waitForAnswer() {}, stop() {} }
  try {
    const answer = await client.rest<UploadAnswer>(`${place.route}/upload`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: framed(head, observed(hashed(), { progress, watchdog, sent: 0 }), tail),
      signal,
      limitMs: undefined,
    })
    const md5Checksum = hash.digest('hex')
    if (md5In(answer) !== md5Checksum) throw await undo(target, md5Checksum, md5In(answer))
    return { size, md5Checksum, status: 'uploaded' }
  } finally {
    release()
  }
}

/** Deletes an upload whose checksum differs. */
async function undo(target: Target, sent: string, received: string): Promise<Failure> {
  const removed = await target.place.deleteFile(pathOf(target)).then(
    () => true,
    () => false,
  )
  return new Failure(
    'DIGEST_DIFFERS',
    `The stored file differs from what was sent. ${removed ? 'It was removed' : 'Remove it'}; try again.`,
    { sent, received },
  )
}
