import type { Tx } from '../../../db/index.ts'
import { blobsWith, setPicturedAt } from '../../../db/queries/picture.ts'
import { hasFailed, liveBlob, type PreviewRow, previewsOf } from '../../../db/queries/preview.ts'
import type { Config } from '../../config/config.ts'
import { DeriveUnavailable } from '../../derive/derive.ts'
import type { Core } from '../core.ts'
import { enqueueAll } from '../notices/outbox.ts'
import { type MakerDeps, type PreviewJob, previewMaker, type SIDES } from './preview-maker.ts'
import { clockOf, type PreviewView, viewOf } from './preview-view.ts'

/** The formats that previews are made of; what a file says it is decides whether it is tried. */
const DRAWN = /^(image\/(jpeg|png|webp|gif|tiff|avif|svg\+xml)|application\/pdf)$/
const VIDEOS = /^video\//
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

/** The bytes of a preview, to be sent like those of a download. */
export interface PreviewBytes {
  fileName: string
  size: number
  etag: string
  contentType: string
  disposition: string
  cacheControl: string
  read(
    range: { offset: number; count: number } | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>
}

interface Deps
  extends MakerDeps,
    Core<'wake' | 'publicUrl' | 'pubSub'>,
    Pick<Config, 'previews' | 'previewMaxBytes'> {}

/**
 * Small pictures of files: of a content, made once, in processes apart
 * (docs/decisions/previews.md).
 */
export function previewService({
  wake,
  publicUrl,
  pubSub,
  previews,
  previewMaxBytes,
  ...deps
}: Deps) {
  const { db, store, log, derive, maintenance } = deps
  const maker = previewMaker(deps)
  const asked = new Set<string>()
  let isUnable = false

  if (previews && !derive.readsVideos)
    log.info('there is no ffmpeg (FFMPEG): videos have icons, and everything else has previews')

  const isFor = ({ fileType, size }: Omit<PreviewedFile, 'blobId'>): boolean =>
    previews &&
    !isUnable &&
    size > 0 &&
    size <= previewMaxBytes &&
    (DRAWN.test(fileType) || (derive.readsVideos && VIDEOS.test(fileType)))

  function remember(key: string): void {
    if (asked.size >= REMEMBERED) asked.clear()
    asked.add(key)
  }

  /**
   * Asks for previews that nobody makes: of files from before, or of another instance that has
   * died, whose claim has ended.
   */
  function askFor(files: PreviewedFile[], rows: Map<string, PreviewRow>): void {
    // Listings go on during a maintenance, but write nothing; the next one after it asks.
    if (maintenance.current()) return
    const now = Date.now()
    const unasked = files.flatMap(({ blobId, fileType }) => {
      const row = rows.get(blobId)
      const { state, leaseUntil } = row ?? { state: 'none' }
      const isUnmade =
        !state ||
        (state === 'making' && (leaseUntil ?? 0) < now) ||
        (row !== undefined && state === 'failed' && !hasFailed(row, now))
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

  /**
   * Sorts all files with the content of a blob by when it was taken. Not in the transaction that
   * notes it: entries are locked before blobs everywhere. A job that ends between the two comes
   * back and does it.
   */
  async function sortByTime(blobId: string, { requireRunning }: PreviewJob): Promise<void> {
    const [row] = await previewsOf(db, [blobId])
    const at = row?.state === 'made' ? clockOf(row) : null
    const { sha256 } = row ?? {}
    if (!sha256 || at === null) return
    requireRunning()
    const buckets = await db.transaction(async tx =>
      setPicturedAt(db, await blobsWith(db, sha256, tx), at, tx),
    )
    for (const id of buckets) pubSub.publish('bucketChanged', id)
  }

  return {
    isFor,

    /**
     * Jobs at a time. They wait for processes; where the store has no paths, each with a copy of
     * its file on the disk of this machine.
     */
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

    /**
     * The previews of some files by their blobs, in one statement; nothing for files that can have
     * none.
     */
    async ofFiles(files: PreviewedFile[]): Promise<Map<string, PreviewView>> {
      const able = files.filter(isFor)
      if (able.length === 0) return new Map()
      const rows = new Map(
        (
          await previewsOf(
            db,
            able.map(({ blobId }) => blobId),
          )
        ).map(row => [row.ofBlob, row]),
      )
      askFor(able, rows)
      return new Map([...rows].map(([blobId, row]) => [blobId, viewOf(row)]))
    },

    /**
     * The address of a preview, for the session or the key of who asks. It changes with the content
     * only, so that browsers keep what they have.
     */
    addressOf(
      { id }: { id: string },
      workspaceId: string | null,
      version: string,
      size: PreviewSize,
    ): string {
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
      const [start, count] =
        size === 'large' ? [0, largeBytes ?? 0] : [largeBytes ?? 0, smallBytes ?? 0]
      return {
        fileName: `${file.name}.webp`,
        size: count,
        etag: `${digest?.slice(0, 32)}-${size}`,
        contentType: 'image/webp',
        disposition: 'inline',
        // What a browser has shown it may show again for a day, to who has the same session or key,
        // if the address has the version of this content.
        cacheControl:
          version === viewOf(row).version
            ? 'private, max-age=86400, immutable'
            : 'private, no-cache',
        read: (range, signal) =>
          store.open(blobId, {
            offset: start + (range?.offset ?? 0),
            count: range?.count ?? count,
            signal,
          }),
      }
    },

    /** Makes the preview of a content, unless it is there: the job of the outbox. */
    async make(
      { blobId, fileType }: { blobId: string; fileType: string },
      job: PreviewJob,
    ): Promise<void> {
      const blob = await liveBlob(db, blobId)
      if (!blob || !isFor({ fileType, size: blob.size })) return
      // Before its file is copied: a content that many files have is made once.
      const [known] = await previewsOf(db, [blobId])
      if (known?.state && known.state !== 'making') return sortByTime(blobId, job)
      try {
        await maker.make(blob, fileType, job)
        await sortByTime(blobId, job)
      } catch (error) {
        if (!(error instanceof DeriveUnavailable && error.isLasting)) throw error
        isUnable = true
        log.warn({ err: error }, 'previews are off: this platform cannot make them')
      }
    },
  }
}

export type PreviewService = ReturnType<typeof previewService>
