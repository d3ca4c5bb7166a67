import type { Db } from '../../../db/index.ts'
import {
  blobsWithoutText,
  contentText,
  deleteTexts,
  endUnusedText,
  expiredFailures,
  insertContentText,
  liveBlobWith,
  liveFileWith,
  noteText,
  setTextKey,
  type TextFile,
  textBodies,
  textKeyOf,
  waitingTexts,
} from '../../../db/queries/content-text.ts'
import { liveBlob } from '../../../db/queries/preview.ts'
import type { Config } from '../../config/config.ts'
import { type Derive, DeriveUnavailable } from '../../derive/derive.ts'
import type { FailureReason } from '../../derive/outcome.ts'
import { Busy, InvalidInput } from '../../runtime/errors.ts'
import { sourceOf } from '../../storage/source.ts'
import { DAY_MS } from '../../values/duration.ts'
import {
  MAX_TEXT_FILE,
  MAX_UNKNOWN_FILE,
  type TextFormat,
  textFormatOf,
} from '../../values/text-format.ts'
import type { Core } from '../core.ts'
import { enqueueAll, type Job, type JobRun } from '../job.ts'
import { textOfBody, textValue } from './content-text.ts'

/**
 * Failures that a busy machine can cause. After this many tries, the cause is taken to be the file.
 */
const PASSING: readonly FailureReason[] = ['memory', 'time', 'crashed']
const TRIES = 3
/** Jobs that wait for processes, so that no process is idle. Their words are written together. */
const WAITING = 32
/**
 * Files above this size are read twice, because that costs less than making their text a second
 * time.
 */
const LARGE = 256 * 1024
/** How long a reader waits for a text that is not stored, in milliseconds. */
const TEXT_MS = 20_000

/** A blob whose text is to be extracted, and the format in which its bytes are read. */
interface Content {
  blobId: string
  fileType: string
  format: TextFormat
}

type ContentsRun = Pick<JobRun, 'attempts' | 'requireRunning'>

/** Extracts the text of the content of a blob for the search. */
export const contentsJob: Job<
  'contents',
  Content,
  {
    contents: { atATime: number; make(content: Content, run: ContentsRun): Promise<void> }
  }
> = {
  kind: 'contents',
  changesFiles: true,
  atATime: ({ contents }) => contents.atATime,
  patienceMs: DAY_MS,
  // After a large upload, thousands of jobs may wait.
  leastTries: 3,
  run: ({ contents }, content, run) => contents.make(content, run),
}

interface Deps extends Core<'db' | 'store' | 'log' | 'wake'>, Pick<Config, 'searchContents'> {
  derive: Derive
}

/** Whether a file may have a text that can be searched. */
export function hasText({ name, fileType, size }: Omit<TextFile, 'blobId'>): boolean {
  const format = textFormatOf(name, fileType)
  const most = format === 'any' ? MAX_UNKNOWN_FILE : MAX_TEXT_FILE
  return format !== null && size > 0 && size <= most
}

/**
 * The texts of contents: each is made once, in a process apart, belongs to the SHA-256 of the bytes
 * and to the format that they are read as, and is indexed for every file that has it
 * (docs/decisions/search.md).
 */
export function contentsService({ db, store, log, wake, derive, searchContents }: Deps) {
  /** The files whose texts are being requested. */
  const asked = new Map<string, Promise<void>>()
  let isUnable = false

  let made = (): void => {}

  const isOn = () => searchContents && !isUnable

  /**
   * Makes the text of a blob.
   * @returns whether there is a text to index
   */
  async function read(
    blob: { id: string; size: number; sha256: string | null },
    { format, fileType }: Omit<Content, 'blobId'>,
    { attempts, requireRunning }: ContentsRun,
  ): Promise<boolean> {
    const keyOf = (sha256: string) => textKeyOf(sha256, format)
    /** Records the text of the blob, which another blob has already. */
    const noted = async (sha256: string, state: string) => {
      requireRunning()
      const textKey = keyOf(sha256)
      return db.transaction(async tx => {
        if (!(await setTextKey(db, { id: blob.id, sha256, textKey }, tx))) return false
        if (state === 'made') await noteText(db, textKey, tx)
        return state === 'made'
      })
    }
    const known = blob.sha256 && (await contentText(db, keyOf(blob.sha256)))
    if (blob.sha256 && known) return noted(blob.sha256, known.state)
    return derive.withFile(sourceOf(store, blob), async file => {
      if (!blob.sha256 && blob.size > LARGE) {
        const digest = await derive.run({
          kind: 'digest',
          source: file,
          mediaType: fileType,
          bounds: { ms: 120_000 },
        })
        const sha256 = digest.ok ? textValue.parse(digest.value).sha256 : null
        const there = sha256 && (await contentText(db, keyOf(sha256)))
        if (there) return noted(sha256, there.state)
      }
      const outcome = await derive.run({
        kind: 'text',
        source: file,
        mediaType: fileType,
        input: { format },
      })
      requireRunning()
      if (!outcome.ok) {
        if (PASSING.includes(outcome.reason) && attempts < TRIES)
          throw new DeriveUnavailable(`The text of a file could not be read: ${outcome.reason}.`)
        await noteFailure(blob, file, { format, fileType }, outcome.reason)
        return false
      }
      const { sha256, failed, characters } = textValue.parse(outcome.value)
      const [body = null] = outcome.outputs
      const isMade = !failed && body !== null && (await textOfBody(body)) !== null
      const reason = isMade ? null : (failed ?? 'unreadable')
      const state = isMade ? ('made' as const) : ('failed' as const)
      const textKey = keyOf(sha256)
      const text = {
        digest: textKey,
        state,
        reason,
        characters: isMade ? characters : 0,
        body: isMade ? body : null,
      }
      const isKept = await db.transaction(async tx => {
        // A blob that no longer exists leaves no text.
        if (!(await setTextKey(db, { id: blob.id, sha256, textKey }, tx))) return false
        await insertContentText(db, text, tx)
        return true
      })
      return isKept && state === 'made'
    })
  }

  /** If reading a file crashes a process, only the checksum of the file is known. */
  async function noteFailure(
    { id, sha256 }: { id: string; sha256: string | null },
    file: { path: string } | Parameters<Derive['run']>[0]['source'],
    { format, fileType: mediaType }: Omit<Content, 'blobId'>,
    reason: FailureReason,
  ): Promise<void> {
    const outcome = sha256
      ? null
      : await derive.run({ kind: 'digest', source: file, mediaType, bounds: { ms: 120_000 } })
    const content = sha256 ?? (outcome?.ok ? textValue.parse(outcome.value).sha256 : null)
    if (!content) throw new DeriveUnavailable('The checksum of a file could not be computed.')
    const digest = textKeyOf(content, format)
    await db.transaction(async tx => {
      if (!(await setTextKey(db, { id, sha256: content, textKey: digest }, tx))) return
      await insertContentText(
        db,
        { digest, state: 'failed', reason, characters: 0, body: null },
        tx,
      )
    })
  }

  async function ask(files: readonly Content[]): Promise<void> {
    if (files.length === 0) return
    const wanted = await blobsWithoutText(
      db,
      files.map(({ blobId }) => blobId),
    )
    const jobs = new Map(
      files
        .filter(({ blobId }) => wanted.has(blobId))
        .map(({ blobId, format, fileType }) => [blobId, { blobId, format, fileType }]),
    )
    if (jobs.size === 0) return
    await db.transaction(tx => enqueueAll(db, contentsJob, [...jobs.values()], tx))
    wake()
  }

  return {
    isOn,
    hasText,

    /** Calls a function after a text was made. */
    onText(listener: () => void): void {
      made = listener
    },

    /**
     * Concurrent jobs. If the store has no paths, each job has a copy of its file on the local
     * disk.
     */
    atATime: store.fileOf ? WAITING : derive.processes,

    /** Requests the texts of the given files that have none. */
    async order(files: readonly TextFile[]): Promise<void> {
      if (!isOn()) return
      const able = files.flatMap(file => {
        const format = hasText(file) ? textFormatOf(file.name, file.fileType) : null
        return format ? [{ ...file, format }] : []
      })
      // Several searches may request the same files at once. The first search makes the request,
      // and the others wait for it.
      const own = able.filter(({ blobId }) => !asked.has(blobId))
      const others = able.flatMap(({ blobId }) => asked.get(blobId) ?? [])
      const asking = ask(own)
      for (const { blobId } of own) asked.set(blobId, asking)
      try {
        await Promise.all([asking, ...new Set(others)])
      } finally {
        for (const { blobId } of own) asked.delete(blobId)
      }
    },

    /**
     * Makes the text of a content, unless it is there: the job of the outbox. The search index
     * finds it by its time.
     */
    async make({ blobId, ...named }: Content, job: ContentsRun): Promise<void> {
      if (!isOn()) return
      const blob = await liveBlob(db, blobId)
      if (!blob || blob.size > MAX_TEXT_FILE) return
      try {
        if (await read(blob, named, job)) made()
      } catch (error) {
        if (!(error instanceof DeriveUnavailable && error.isLasting)) throw error
        isUnable = true
        log.warn({ err: error }, 'contents are not searched: this platform cannot read them')
      }
    },

    /**
     * The text of a file: the stored one, or one that is made now and not stored. Does not
     * authorize.
     * @throws INVALID_INPUT if the file has no text, UNAVAILABLE if it takes too long
     */
    async textOf(file: TextFile, signal?: AbortSignal): Promise<string> {
      const { blobId, name, fileType, size } = file
      if (size === 0) return ''
      const format = hasText(file) ? textFormatOf(name, fileType) : null
      const blob = format && (await liveBlob(db, blobId))
      if (!format || !blob) throw new InvalidInput('id', 'Files of this kind or size have no text.')
      if (blob.sha256) {
        const key = textKeyOf(blob.sha256, format)
        const body = (await textBodies(db, [key])).get(key)
        const text = body && (await textOfBody(body))
        if (text !== null && text !== undefined) return text
      }
      const timeout = AbortSignal.timeout(TEXT_MS)
      const outcome = await derive
        .run({
          kind: 'text',
          source: sourceOf(store, blob),
          mediaType: fileType,
          input: { format },
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        })
        .catch(error => {
          if (timeout.aborted || error instanceof DeriveUnavailable) throw textBusy()
          throw error
        })
      const [body = null] = outcome.ok ? outcome.outputs : []
      const isRead = outcome.ok && !textValue.parse(outcome.value).failed
      const text = isRead && body ? await textOfBody(body) : null
      if (text === null)
        throw new InvalidInput('id', 'The text of this file cannot be read. It may be damaged.')
      return text
    },

    /** Deletes the texts with the given keys. Their last blobs are about to be deleted. */
    async forget(keys: readonly string[]): Promise<void> {
      for (const key of keys) await removeText(db, key)
    },

    /** Requests texts again whose failures no longer count. */
    async retryFailed(): Promise<void> {
      if (!isOn()) return
      const jobs = new Map<string, Content>()
      for (const { blobId, name, fileType } of await expiredFailures(db, WAITING)) {
        const format = textFormatOf(name, fileType)
        if (format) jobs.set(blobId, { blobId, format, fileType })
      }
      if (jobs.size === 0) return
      const waiting = await waitingTexts(db)
      const fresh = [...jobs.values()].filter(({ blobId }) => !waiting.has(blobId))
      if (fresh.length === 0) return
      await db.transaction(tx => enqueueAll(db, contentsJob, fresh, tx))
      wake()
    },

    /**
     * Deletes the texts if contents are not searched.
     * @returns whether there is more to do
     */
    async settle(): Promise<boolean> {
      return !searchContents && (await deleteTexts(db, 100)) > 0
    },
  }
}

const textBusy = () =>
  new Busy('The text of this file is not ready yet. Try again in a few seconds.')

/** Deletes the text of a content that no live blob has. */
export async function removeText(db: Db, digest: string): Promise<void> {
  if (await db.transaction(tx => liveBlobWith(db, digest, tx))) return
  await db.transaction(async tx => {
    if (await endUnusedText(db, digest, tx)) return
    // The same content has arrived meanwhile.
    const file = await liveFileWith(db, digest, tx)
    const format = file && textFormatOf(file.name, file.fileType)
    if (!format) return
    const { blobId, fileType } = file
    await enqueueAll(db, contentsJob, [{ blobId, format, fileType }], tx)
  })
}

export type ContentsService = ReturnType<typeof contentsService>
