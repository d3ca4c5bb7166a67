import type { Tx } from '../../../db/index.ts'
import { blobsWith, placePictures } from '../../../db/queries/picture.ts'
import {
  hasFailed,
  isOutdated,
  liveBlob,
  type PreviewRow,
  previewsOf,
} from '../../../db/queries/preview.ts'
import type { Config } from '../../config/config.ts'
import { DeriveUnavailable } from '../../derive/derive.ts'
import { isDrawn } from '../../formats/picture.ts'
import type { Core } from '../core.ts'
import { enqueueAll } from '../job.ts'
import { type PreviewRun, previewJob } from './preview-job.ts'
import { type MakerDeps, previewMaker, type SIDES } from './preview-maker.ts'
import { type PreviewView, viewOf } from './preview-view.ts'

/** The number of jobs that wait for processes, so that no process is idle. */
const WAITING = 32
/** The number of remembered requests, so that each file is requested once. */
const REMEMBERED = 10_000

export type PreviewSize = keyof typeof SIDES

/** A file for which a preview is requested. */
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
 * Small images of files, made once for each content in separate processes
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
    isDrawn(fileType, derive.readsVideos)

  function remember(key: string): void {
    if (asked.size >= REMEMBERED) asked.clear()
    asked.add(key)
  }

  /**
   * Requests previews that nobody is making: of older files, and of an instance that died and whose
   * claim has expired.
   */
  function askFor(files: PreviewedFile[], rows: Map<string, PreviewRow>): void {
    // Listings work during a maintenance but write nothing. The next listing after it requests the
    // previews.
    if (maintenance.current()) return
    const now = Date.now()
    const unasked = files.flatMap(({ blobId, fileType }) => {
      const row = rows.get(blobId)
      const { state, leaseUntil } = row ?? { state: 'none' }
      const isUnmade =
        !state ||
        (state === 'making' && (leaseUntil ?? 0) < now) ||
        (row !== undefined && state === 'failed' && !hasFailed(row, now)) ||
        (row !== undefined && isOutdated(row))
      // Once for each claim and each failure that has expired.
      const key = row?.createdAt ? `${blobId} ${row.createdAt}` : blobId
      return isUnmade && !asked.has(key) ? [{ key, job: { blobId, fileType } }] : []
    })
    if (unasked.length === 0) return
    for (const { key } of unasked) remember(key)
    const jobs = unasked.map(({ job }) => job)
    db.transaction(tx => enqueueAll(db, previewJob, jobs, tx)).then(wake, error => {
      for (const { key } of unasked) asked.delete(key)
      log.warn({ err: error }, 'could not request previews; the next listing will')
    })
  }

  /**
   * Sorts all files with this content by the time at which the picture was taken. This runs outside
   * the transaction that stores the time, because entries are always locked before blobs. A job
   * that dies between the two runs again.
   */
  async function sortByTime(blobId: string, { requireRunning }: PreviewRun): Promise<void> {
    const [row] = await previewsOf(db, [blobId])
    const { sha256, state } = row ?? {}
    if (!sha256 || !state || state === 'making') return
    requireRunning()
    const buckets = await db.transaction(async tx =>
      placePictures(db, await blobsWith(db, sha256, tx), tx),
    )
    for (const id of buckets) pubSub.publish('driveChanged', id)
  }

  return {
    isFor,

    /**
     * The number of concurrent jobs. They wait for processes. If the store has no local paths, each
     * holds a copy of its file on the local disk.
     */
    atATime: store.fileOf ? WAITING : derive.processes,

    /** Part of the transaction that stores a file. The preview is made afterwards. */
    async order(file: PreviewedFile, tx: Tx): Promise<void> {
      if (!isFor(file)) return
      remember(file.blobId)
      await enqueueAll(db, previewJob, [{ blobId: file.blobId, fileType: file.fileType }], tx)
    },

    /** Must be called once that transaction is committed. */
    ordered(file: Omit<PreviewedFile, 'blobId'>): void {
      if (isFor(file)) wake()
    },

    /**
     * The previews of some files by blob id, in one statement. Files that cannot have previews are
     * missing.
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
     * The URL of a preview, for the caller's session or key. It changes only with the content, so
     * that browsers can cache it.
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

    /** The bytes of a preview, or null if none exists yet. Does not authorize. */
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
        // A browser may cache the image for a day and show it to the same session or key, if the
        // URL has the version of this content.
        cacheControl:
          version === viewOf(row).version
            ? 'private, max-age=86400, immutable'
            : 'private, no-cache',
        read: (range, signal) =>
          store.chunks(blobId, {
            offset: start + (range?.offset ?? 0),
            count: range?.count ?? count,
            signal,
          }),
      }
    },

    /** Makes the preview of a content, unless it exists. This is the job of the outbox. */
    async make(
      { blobId, fileType }: { blobId: string; fileType: string },
      job: PreviewRun,
    ): Promise<void> {
      const blob = await liveBlob(db, blobId)
      if (!blob || !isFor({ fileType, size: blob.size })) return
      // Checked before the file is copied: a content that many files share is processed once.
      const [known] = await previewsOf(db, [blobId])
      const isMade = known?.state === 'made'
      if (known && ((isMade && !isOutdated(known)) || hasFailed(known, Date.now())))
        return sortByTime(blobId, job)
      try {
        await (isMade ? maker.readAgain(blob, fileType, job) : maker.make(blob, fileType, job))
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
