import type { Readable } from 'node:stream'
import { v4 as newClaim } from 'uuid'
import type { Db } from '../../../db/index.ts'
import {
  claimSession,
  deleteClaimed,
  extendClaim,
  releaseClaim,
  sessionExists,
} from '../../../db/queries/upload-session.ts'
import type { Caller } from '../../access/caller.ts'
import { HOUR_MS } from '../../duration.ts'
import { AppError, InvalidInput, Unavailable } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { OnConflict } from '../../on-conflict.ts'
import { joinPath, parseName } from '../../paths.ts'
import { type Algorithm, digest } from '../../storage/hash.ts'
import { BlobMissing, type BlobStore, StoreRefusal } from '../../storage/store.ts'
import type { BlobService, StagedBlob } from '../tree/blob.ts'
import { lockTree, type TreeChangeRunner } from '../tree/entry.ts'
import type { Tree } from '../tree/entry-path.ts'
import type { Destination, FileService } from '../tree/file.ts'
import type { FileView } from '../tree/listing.ts'
import type { ExpectedRevision } from '../tree/revision.ts'
import { isCorrupted, uploadBusy, uploadCorrupted, uploadNotFound } from './upload-error.ts'
import { markPartsForDeletion, placeOf, type UploadSessionService, type UploadSessionView } from './upload-session.ts'

/** Options of a completion: the expected digests (hex), and another path than planned. */
export interface Completion {
  md5?: string | null | undefined
  sha256?: string | null | undefined
  filename?: string | null | undefined
  folder?: string | null | undefined
  /** Decides again: the caller may have lost a right since the start. */
  decide: (choice: OnConflict) => OnConflict
  expected?: ExpectedRevision
}

/** The exclusive claim of the request that is completing an upload. */
interface Claim {
  token: string
  /** Renews the claim. @throws UPLOAD_NOT_FOUND when it is lost */
  renew(): Promise<void>
}

const STALL_MS = 30_000
/** How many numbers of missing parts an error lists. */
const MAX_TOLD = 1000

export function uploadCompletionService({
  db,
  store,
  blobs,
  files,
  change,
  sessions,
  log,
  claimSeconds,
}: {
  db: Db
  store: BlobStore
  blobs: BlobService
  files: FileService
  change: TreeChangeRunner
  sessions: UploadSessionService
  log: Log
  claimSeconds: number
}) {
  /** Runs `work` under a claim that keeps out other completions and parts. The claim of a request that dies expires. */
  async function claimed<T>(id: string, work: (claim: Claim) => Promise<T>): Promise<T> {
    const token = newClaim()
    const until = () => Date.now() + claimSeconds * 1000
    if (!(await claimSession(db, id, token, until())))
      throw (await sessionExists(db, id)) ? uploadBusy() : uploadNotFound()
    const renew = async () => {
      const held = await extendClaim(db, id, token, until())
      // The lease must not expire while the bytes are read back.
      if (!held || !(await blobs.renew(id, Date.now() + HOUR_MS))) throw uploadNotFound()
    }
    const heartbeat = setInterval(
      () => renew().catch(error => log.warn({ err: error, upload: id }, 'could not renew a claim')),
      (claimSeconds * 1000) / 4,
    )
    try {
      return await work({ token, renew })
    } finally {
      clearInterval(heartbeat)
      await releaseClaim(db, id, token).catch(error =>
        log.warn({ err: error, upload: id }, 'could not release a claim; it expires'),
      )
    }
  }

  function refuseIncomplete(session: UploadSessionView, received: number[]): void {
    const there = new Set(received)
    const missing = Array.from({ length: session.partCount }, (_, i) => i + 1).filter(n => !there.has(n))
    if (missing.length === 0) return
    const some = missing.slice(0, 10).join(', ') + (missing.length > 10 ? ', ...' : '')
    throw new AppError('UPLOAD_INCOMPLETE', `Parts are missing: ${some}. Send them, then complete the upload again.`, {
      missing: missing.slice(0, MAX_TOLD),
      missing_count: missing.length,
    })
  }

  /**
   * Joins the parts into one blob, and passes it to `use`. It is read back for the sums that the store does not know. Bytes that clients
   * can still write, because their signed URLs have not expired, are copied first.
   */
  async function assembled<T>(
    tree: Tree,
    session: UploadSessionView,
    sums: readonly Algorithm[],
    use: (blob: StagedBlob, read: Partial<Record<Algorithm, string>>) => Promise<T>,
  ): Promise<T> {
    const { id, size, fileType: contentType } = session
    const joined = await store.commitParts(id, size === 0 ? 0 : session.partCount, { contentType })
    const copied = session.writableUntil > 0 ? await blobs.announceCopy(tree) : undefined
    const key = copied ?? id
    try {
      if (copied) {
        await store.copy(id, copied)
        // Checked before reading: a client may have written far more than it declared.
        const there = await store.look(copied)
        if (there?.size !== size) throw otherSize(session, there?.size ?? 0)
      }
      const known = copied ? {} : joined
      const unknown = sums.filter(sum => sum === 'sha256' || known.md5 === undefined)
      const read = unknown.length > 0 ? await digest(flowing(await store.open(key)), unknown) : undefined
      if (read && read.size !== size) throw otherSize(session, read.size)
      const all = { ...read?.sums, ...known }
      const blob = {
        id: key,
        reservedBytes: size,
        size,
        md5: all.md5 ?? '',
        ...(copied ? { copied: true } : {}),
      } as const
      const done = await use(blob, all)
      blobs.settled(key)
      return done
    } catch (error) {
      // An upload that has ended meanwhile may have been swept before its parts were joined.
      if (copied) await blobs.abandonCopy(tree, copied)
      else await blobs.abandonForgotten(tree, id)
      throw error
    }
  }

  return {
    /**
     * Creates the file: joins all parts, and compares them with the expected digests. When that fails, the upload
     * can continue. Runs to its end even if the client disconnects.
     * @throws UPLOAD_NOT_FOUND, UPLOAD_BUSY, UPLOAD_INCOMPLETE, CHECKSUM_MISMATCH, PATH_EXISTS, QUOTA_EXCEEDED for folders,
     * UNAUTHENTICATED, FORBIDDEN
     */
    async complete(tree: Tree, id: string, caller: Caller, completion: Completion): Promise<FileView> {
      const by = caller.userId
      const session = await sessions.find(tree, id, by, 'idle')
      const { fileType } = session
      const given = digestsOf(completion)
      const planned = { folder: joinPath(session.names.slice(0, -1)), name: session.names.at(-1) ?? '' }
      const name = completion.filename ? parseName(completion.filename, 'filename') : planned.name
      const names = placeOf(completion.folder || planned.folder, name)
      const destination: Destination = {
        names,
        onConflict: completion.decide(session.onConflict),
        expected: completion.expected,
      }
      await files.refuseTaken(tree, destination)
      const work = claimed(id, async claim => {
        const received = await sessions.received(session)
        // If the claim of this request expired, another may hold the upload, and the blob may belong to a file.
        await claim.renew()
        refuseIncomplete(session, received)
        const sums: Algorithm[] = given.sha256 === undefined ? ['md5'] : ['md5', 'sha256']
        const file = await assembled(tree, session, sums, async (blob, read) => {
          for (const [algorithm, checksum] of Object.entries(given))
            if (checksum !== read[algorithm as Algorithm]) throw mismatch(algorithm, read)
          await store.describe(blob.id, { contentType: fileType, md5: blob.md5 })
          const made = { fileType, caller, at: Date.now() }
          return change(tree, caller, async change => {
            const { tx } = change
            await lockTree(db, tree, tx)
            // A request that has aborted the upload, or acquired the expired claim, wins.
            if (!(await deleteClaimed(db, id, claim.token, tx))) throw uploadNotFound()
            if (session.writableUntil > 0) await markPartsForDeletion(db, session, tx)
            return files.save(tree, blob, destination, made, change)
          })
        })
        await (session.writableUntil > 0 ? sessions.removeParts(session) : sessions.endParts(id))
        return file
      })
      return work.catch(async error => {
        if (!(error instanceof StoreRefusal || error instanceof BlobMissing)) throw error
        // The refusal of the store is expected when the upload has ended meanwhile, or its content is not its parts.
        await sessions.find(tree, id, by)
        throw isCorrupted(session, error) ? uploadCorrupted() : error
      })
    },
  }
}

export type UploadCompletionService = ReturnType<typeof uploadCompletionService>

/** Fails a stream of the store that stalls, which would otherwise hold the claim forever. */
async function* flowing(stream: Readable): AsyncGenerator<Uint8Array> {
  const timer = setTimeout(() => stream.destroy(new Error('The store sent no bytes for too long.')), STALL_MS)
  try {
    for await (const chunk of stream) {
      timer.refresh()
      yield chunk as Uint8Array
    }
  } catch (error) {
    throw new Unavailable('blob store', error)
  } finally {
    clearTimeout(timer)
  }
}

/** The expected digests, in lower-case hex. @throws INVALID_INPUT */
function digestsOf(completion: Completion): Partial<Record<Algorithm, string>> {
  const given: Partial<Record<Algorithm, string>> = {}
  for (const [algorithm, length] of [
    ['md5', 32],
    ['sha256', 64],
  ] as const) {
    const text = completion[algorithm]
    if (!text) continue
    if (text.length !== length || !/^[0-9a-f]+$/i.test(text))
      throw new InvalidInput(algorithm, `"${algorithm}" is the digest of the whole file, as ${length} hex digits.`)
    given[algorithm] = text.toLowerCase()
  }
  return given
}

const otherSize = (session: UploadSessionView, bytes: number) =>
  new AppError('CHECKSUM_MISMATCH', `The parts hold ${bytes} bytes, not ${session.size}. Send them again.`)

function mismatch(algorithm: string, read: Partial<Record<Algorithm, string>>): AppError {
  return new AppError(
    'CHECKSUM_MISMATCH',
    `The stored parts do not match the given ${algorithm}. Send the parts that differ again, then complete the upload.`,
    { algorithm, received: read[algorithm as Algorithm] },
  )
}
