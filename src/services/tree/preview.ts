import type { z } from 'zod'
import type { Tx } from '../../../db/index.ts'
import { makeLive } from '../../../db/queries/blob.ts'
import {
  type Claim,
  type Content,
  claimPreview,
  dropClaim,
  failPreview,
  finishPreview,
  liveBlob,
  type PreviewRow,
  previewsOf,
  setDigest,
} from '../../../db/queries/preview.ts'
import type { Config } from '../../config/config.ts'
import { type Derive, DeriveUnavailable, type Source } from '../../derive/derive.ts'
import type { FailureReason } from '../../derive/outcome.ts'
import { sourceOf } from '../../storage/source.ts'
import type { Core } from '../core.ts'
import type { MaintenanceService } from '../maintenance.ts'
import { enqueueAll, enqueueAt } from '../notices/outbox.ts'
import type { BlobService } from './blob.ts'
import { digestValue, pictureValue } from './derived-value.ts'

/** The formats that previews are made of; what a file says it is decides whether it is tried. */
const PICTURES = /^image\/(jpeg|png|webp|gif|tiff|avif|svg\+xml)$/
/** The longest side of each picture, in pixels. */
const SIDES = { large: 1280, small: 256 } as const
const LEASE_MS = 120_000
/** Reasons that may be a busy machine's rather than the file's: after so many tries, they count as the file's. */
const PASSING: readonly FailureReason[] = ['memory', 'time', 'crashed']
const TRIES = 3
/** Jobs that wait for processes, so that none of these is idle. */
const WAITING = 32
/** How many files that were asked for are remembered, so that each is asked for once. */
const REMEMBERED = 10_000

export type PreviewSize = keyof typeof SIDES

/** A file whose preview is asked for. */
export interface PreviewedFile {
  blobId: string
  fileType: string
  size: number
}

/** The preview of a file. Null where it is not known yet. */
export interface PreviewView {
  state: 'waiting' | 'made' | 'failed'
  /** Changes with the content. */
  version: string | null
  placeholder: string | null
  width: number | null
  height: number | null
  takenAt: number | null
}

/** The job that a preview is made by. */
interface PreviewJob {
  /** Which try it is, from 1. */
  attempts: number
  /** To be called before anything is written. @throws while a maintenance is in force */
  requireRunning(): void
}

/** The bytes of a preview, to be sent like those of a download. */
export interface PreviewBytes {
  fileName: string
  size: number
  etag: string
  contentType: string
  disposition: string
  cacheControl: string
  read(range: { offset: number; count: number } | undefined, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

interface Deps
  extends Core<'db' | 'store' | 'log' | 'wake' | 'publicUrl'>,
    Pick<Config, 'previews' | 'previewMaxBytes'> {
  blobs: BlobService
  derive: Derive
  maintenance: Pick<MaintenanceService, 'current'>
}

/** Small pictures of files: of a content, made once, in processes apart (docs/decisions/previews.md). */
export function previewService({ db, store, log, wake, publicUrl, ...deps }: Deps) {
  const { blobs, derive, maintenance, previews, previewMaxBytes } = deps
  const asked = new Set<string>()
  let isUnable = false

  const isFor = ({ fileType, size }: Omit<PreviewedFile, 'blobId'>): boolean =>
    previews && !isUnable && size > 0 && size <= previewMaxBytes && PICTURES.test(fileType)

  function remember(key: string): void {
    if (asked.size >= REMEMBERED) asked.clear()
    asked.add(key)
  }

  /** Asks for previews that nobody makes: of files from before, or of another instance that has died, whose claim has ended. */
  function askFor(files: PreviewedFile[], rows: Map<string, PreviewRow>): void {
    // Listings go on during a maintenance, but write nothing; the next one after it asks.
    if (maintenance.current()) return
    const now = Date.now()
    const unasked = files.flatMap(({ blobId, fileType }) => {
      const { state, leaseUntil } = rows.get(blobId) ?? { state: 'none' }
      const isUnmade = !state || (state === 'making' && (leaseUntil ?? 0) < now)
      // Once for each claim that has ended.
      const key = leaseUntil ? `${blobId} ${leaseUntil}` : blobId
      return isUnmade && !asked.has(key) ? [{ key, job: { blobId, fileType } }] : []
    })
    if (unasked.length === 0) return
    for (const { key } of unasked) remember(key)
    const jobs = unasked.map(({ job }) => job)
    db.transaction(tx => enqueueAll(db, 'preview', jobs, tx)).then(wake, error => {
      for (const { key } of unasked) asked.delete(key)
      log.warn({ err: error }, 'could not ask for previews; the next listing does')
    })
  }

  const viewOf = ({ state, digest, placeholder, width, height, takenAt }: PreviewRow): PreviewView => {
    const shown = state === 'made' || state === 'failed' ? state : 'waiting'
    const version = state === 'made' && digest ? digest.slice(0, 16) : null
    return { state: shown, version, placeholder, width, height, takenAt }
  }

  /** The checksum of a blob: what is known, or what a process finds. */
  async function digestOf(
    { id, sha256: known }: Content,
    file: Source,
    mediaType: string,
    { requireRunning }: PreviewJob,
  ): Promise<string | null> {
    if (known) return known
    requireRunning()
    const outcome = await derive.run({ kind: 'digest', source: file, mediaType, bounds: { ms: 120_000 } })
    if (!outcome.ok) throw new DeriveUnavailable(`The checksum of a file could not be computed: ${outcome.reason}.`)
    requireRunning()
    const { sha256 } = digestValue.parse(outcome.value)
    return (await db.transaction(tx => setDigest(db, id, sha256, tx))) ? sha256 : null
  }

  /** Stores what a process has made. Whatever happens, nothing is left that the ledger does not know of. */
  async function keep(
    source: { id: string; bucketId: string },
    claim: Claim,
    outputs: Buffer[],
    value: z.infer<typeof pictureValue>,
  ): Promise<void> {
    const blobId = await blobs.announceCopy(source)
    try {
      const bytes = Buffer.concat(outputs)
      const stored = await store.put(blobId, one(bytes), { contentType: 'image/webp', admit: async () => {} })
      const [largeBytes = 0, smallBytes = 0] = outputs.map(output => output.length)
      const { details, takenAt = null, ...known } = value
      const shape = { ...known, takenAt, details: details ? JSON.stringify(details) : null }
      const made = { digest: claim.digest, blobId, largeBytes, smallBytes, ...shape }
      const isKept = await db.transaction(async tx => {
        if (!(await finishPreview(db, made, source.id, tx))) {
          await dropClaim(db, claim, tx)
          return false
        }
        if (await makeLive(db, { id: blobId, size: stored.size, crc32: stored.crc32 }, 'copied', tx)) return true
        throw new DeriveUnavailable('The lease of a preview has ended.')
      })
      if (isKept) blobs.settled(blobId)
      else await blobs.abandonCopy(source, blobId)
    } catch (error) {
      await blobs.abandonCopy(source, blobId)
      throw error
    }
  }

  async function make(
    blob: { id: string; bucketId: string },
    digest: string,
    { file, mediaType, attempts, requireRunning }: PreviewJob & { file: Source; mediaType: string },
  ): Promise<void> {
    requireRunning()
    const now = Date.now()
    const claim: Claim = { digest, until: now + LEASE_MS }
    const claimed = await db.transaction(async tx => {
      const found = await claimPreview(db, digest, { now, until: claim.until }, tx)
      // Who has claimed it may have died: somebody must look again when the claim has ended.
      const again = { blobId: blob.id, fileType: mediaType }
      if (typeof found === 'number') await enqueueAt(db, 'preview', { payload: again, dueAt: found + 1 }, tx)
      return found
    })
    if (claimed !== 'mine') return
    try {
      const input = { sides: Object.values(SIDES) }
      const outcome = await derive.run({ kind: 'picture', source: file, mediaType, input })
      requireRunning()
      const value = outcome.ok ? pictureValue.safeParse(outcome.value) : undefined
      if (outcome.ok && value?.success && outcome.outputs.length === 2)
        return await keep(blob, claim, outcome.outputs, value.data)
      const reason = outcome.ok ? 'unreadable' : outcome.reason
      if (PASSING.includes(reason) && attempts < TRIES)
        throw new DeriveUnavailable(`A preview could not be made: ${reason}.`)
      await db.transaction(tx => failPreview(db, claim, reason, blob.id, tx))
    } catch (error) {
      // It ends by itself, too: during a maintenance, nothing is written.
      if (!maintenance.current()) await db.transaction(tx => dropClaim(db, claim, tx)).catch(() => {})
      throw error
    }
  }

  return {
    isFor,

    /** Jobs at a time. They wait for processes; where the store has no paths, each with a copy of its file on the disk of this machine. */
    atATime: store.fileOf ? WAITING : derive.processes,

    /** Part of the transaction that stores a file: its preview is made after it. */
    async order(file: PreviewedFile, tx: Tx): Promise<void> {
      if (!isFor(file)) return
      remember(file.blobId)
      await enqueueAll(db, 'preview', [{ blobId: file.blobId, fileType: file.fileType }], tx)
    },

    /** Called once that transaction is committed. */
    ordered(file: Omit<PreviewedFile, 'blobId'>): void {
      if (isFor(file)) wake()
    },

    /** The previews of some files by their blobs, in one statement; nothing for files that can have none. */
    async ofFiles(files: PreviewedFile[]): Promise<Map<string, PreviewView>> {
      const able = files.filter(isFor)
      if (able.length === 0) return new Map()
      const rows = new Map(
        (
          await previewsOf(
            db,
            able.map(({ blobId }) => blobId),
          )
        ).map(row => [row.of, row]),
      )
      askFor(able, rows)
      return new Map([...rows].map(([blobId, row]) => [blobId, viewOf(row)]))
    },

    /** The address of a preview, for the session or the key of who asks. It changes with the content only, so that browsers keep what they have. */
    addressOf({ id }: { id: string }, workspaceId: string | null, version: string, size: PreviewSize): string {
      const base = workspaceId === null ? '/api' : `/api/workspaces/${workspaceId}`
      return `${publicUrl()}${base}/files/preview?file_id=${id}&size=${size}&version=${version}`
    },

    /** The bytes of a preview; null if there is none, or none yet. Does not authorize. */
    async open(
      file: PreviewedFile & { name: string },
      { size, version }: { size: PreviewSize; version: string | null },
    ): Promise<PreviewBytes | null> {
      if (!isFor(file)) return null
      const [row] = await previewsOf(db, [file.blobId])
      askFor([file], new Map(row && [[file.blobId, row]]))
      if (row?.state !== 'made' || !row.blobId) return null
      const { blobId, largeBytes, smallBytes, digest } = row
      const [start, count] = size === 'large' ? [0, largeBytes ?? 0] : [largeBytes ?? 0, smallBytes ?? 0]
      return {
        fileName: `${file.name}.webp`,
        size: count,
        etag: `${digest?.slice(0, 32)}-${size}`,
        contentType: 'image/webp',
        disposition: 'inline',
        // What a browser has shown it may show again for a day, to who has the same session or key, if the address has the version of this content.
        cacheControl: version === viewOf(row).version ? 'private, max-age=86400, immutable' : 'private, no-cache',
        read: (range, signal) =>
          store.open(blobId, { offset: start + (range?.offset ?? 0), count: range?.count ?? count, signal }),
      }
    },

    /** Makes the preview of a content, unless it is there: the job of the outbox. */
    async make({ blobId, fileType }: { blobId: string; fileType: string }, job: PreviewJob): Promise<void> {
      const blob = await liveBlob(db, blobId)
      if (!blob || !isFor({ fileType, size: blob.size })) return
      // Before its file is copied: a content that many files have is made once.
      const [known] = await previewsOf(db, [blobId])
      if (known?.state && known.state !== 'making') return
      try {
        await derive.withFile(sourceOf(store, blob), async file => {
          const digest = await digestOf(blob, file, fileType, job)
          if (digest) await make(blob, digest, { ...job, file, mediaType: fileType })
        })
      } catch (error) {
        if (!(error instanceof DeriveUnavailable && error.isLasting)) throw error
        isUnable = true
        log.warn({ err: error }, 'previews are off: this platform cannot make them')
      }
    },
  }
}

export type PreviewService = ReturnType<typeof previewService>

async function* one(bytes: Buffer) {
  yield bytes
}
