import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { digestsOf } from '../../upload-engine/digests.ts'
import type { SessionStore, Source } from '../../upload-engine/job.ts'
import { linkSignal } from '../../upload-engine/signal.ts'
import { SMALL } from '../../upload-engine/upload.ts'
import { undo } from '../../upload-engine/whole.ts'
import { Failure, isFailure } from '../failure.ts'
import type { RemoteFile } from '../place.ts'
import { framed, observed } from './body.ts'
import { uploadForm } from './form.ts'
import { type Body, sourceInMemory, sourceOf } from './local-file.ts'
import { aimOf, pathExists, type Stored, uploadTo } from './target.ts'
import { receiptIn, transportOf, type UploadAnswer } from './transport.ts'
import { uploadStateOf } from './upload-state.ts'
import type { Target } from './upload-target.ts'

/**
 * @param known remote files of this name that are already known
 * @throws PATH_EXISTS, FILE_CHANGED
 */
export async function putFile(path: string, target: Target, known: RemoteFile[]): Promise<Stored> {
  const { patience } = target.place.client
  const file = await open(path)
  try {
    const source = await sourceOf(file)
    const { size, mtimeMs } = source.fingerprint
    if (known.some(file => file.size === size)) {
      const md5Checksum = await digestsOf(source).whole(patience.signal)
      const same = known.find(file => file.md5Checksum === md5Checksum)
      if (same) {
        target.progress.skip(size)
        return { name: same.name, size, md5Checksum, status: 'unchanged' }
      }
    }
    if (known.length > 0 && target.onConflict === 'FAIL') throw pathExists(target)
    if (size > SMALL) return await putLarge(source, path, target)
    const bytes = await file.readFile()
    await source.verify()
    return await putBytes(bytes, target, mtimeMs)
  } finally {
    await file.close()
  }
}

/** Uploads in parts. Resumes an earlier upload of the same file. */
async function putLarge(source: Source<Body>, path: string, target: Target): Promise<Stored> {
  const states = await uploadStateOf(path, target.place, target.onConflict)
  return states.alone(async () => {
    try {
      return await uploadTo(target, source, states)
    } catch (error) {
      if (!isFailure(error, 'PATH_EXISTS')) throw error
      throw (await states.read()) ? stillThere(target) : pathExists(target)
    }
  })
}

const stillThere = (target: Target): Failure => {
  const { code, message, details } = pathExists(target)
  const hint =
    'The uploaded parts are kept for a day: with another --name, they need not be sent again.'
  return new Failure(code, `${message} ${hint}`, details)
}

/** A single request has no session. */
const none: SessionStore = { read: async () => null, async write() {}, async remove() {} }

/**
 * Uploads bytes in one request, with retries.
 *
 * @param mtimeMs modification time; 0 if unknown
 */
export const putBytes = (bytes: Uint8Array, target: Target, mtimeMs = 0): Promise<Stored> =>
  uploadTo(target, sourceInMemory(bytes, mtimeMs), none)

/**
 * Uploads a stream of unknown length in one request, without retries. Aborts if it exceeds the
 * quota.
 */
export async function putStream(
  source: AsyncIterable<Uint8Array>,
  target: Target,
): Promise<Stored> {
  const { place, progress } = target
  const { client } = place
  const capacity = await place.capacity().catch(error => {
    // A key with write scope may lack the read scope. The service then enforces the quota.
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
  const { type, head, tail } = uploadForm(target)
  try {
    // No watchdog: standard input may be slow, and the service has a timeout of its own.
    const answer = await client.rest<UploadAnswer>(`${place.route}/upload`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: framed(head, observed(hashed(), progress.move), tail),
      signal,
      limitMs: undefined,
    })
    const [md5Checksum, receipt] = [hash.digest('hex'), receiptIn(answer)]
    if (receipt.md5 !== md5Checksum)
      throw await undo(transportOf(target), aimOf(target), md5Checksum, receipt)
    return { name: receipt.fileName, size, md5Checksum, status: 'uploaded' }
  } finally {
    release()
  }
}
