import { Readable } from 'node:stream'
import type { z } from 'zod'
import { makeLive } from '../../../db/queries/blob.ts'
import {
  type Claim,
  type Content,
  claimPreview,
  dropClaim,
  failPreview,
  finishPreview,
  renewClaim,
  setDigest,
  setMetadata,
} from '../../../db/queries/preview.ts'
import type { Config } from '../../config/config.ts'
import { type Derive, DeriveUnavailable, type Outcome, type Source } from '../../derive/derive.ts'
import type { FailureReason } from '../../derive/outcome.ts'
import { sourceOf } from '../../storage/source.ts'
import type { Core } from '../core.ts'
import { enqueueAt } from '../job.ts'
import type { MaintenanceService } from '../maintenance.ts'
import type { BlobService } from './blob.ts'
import { digestValue, heifValue, metadataValue, pictureValue, videoValue } from './derived-value.ts'
import { type PreviewRun, previewJob } from './preview-job.ts'

/** The longest side of each picture, in pixels. */
export const SIDES = { large: 1280, small: 256 } as const
/**
 * Failures that a busy machine can cause. After several tries they count as failures of the file.
 */
const PASSING: readonly FailureReason[] = ['memory', 'time', 'crashed']
const TRIES = 3

/** The maximum size of a decoded HEIF picture, as JPEG. */
const HEIF_BYTES = 32 * 1024 * 1024

type Metadata = z.infer<typeof metadataValue>

/** The columns of a preview that metadata fills. */
const columnsOf = ({ width, height, orientation, takenAt, details }: Metadata) => ({
  width: width ?? null,
  height: height ?? null,
  orientation: orientation ?? null,
  takenAt: takenAt ?? null,
  details: details ? JSON.stringify(details) : null,
})

export interface MakerDeps extends Core<'db' | 'store' | 'log'>, Pick<Config, 'leaseSeconds'> {
  blobs: BlobService
  derive: Derive
  maintenance: Pick<MaintenanceService, 'current'>
}

/** Makes previews: once for each content. One process of all instances claims the work. */
export function previewMaker({
  db,
  store,
  log,
  blobs,
  derive,
  maintenance,
  leaseSeconds,
}: MakerDeps) {
  const leaseMs = leaseSeconds * 1000

  /** The checksum of a blob, known or computed by a process. */
  async function digestOf(
    { id, sha256: known }: Content,
    file: Source,
    mediaType: string,
    { requireRunning }: PreviewRun,
  ): Promise<string | null> {
    if (known) return known
    requireRunning()
    const outcome = await derive.run({
      kind: 'digest',
      source: file,
      mediaType,
      bounds: { ms: 120_000 },
    })
    if (!outcome.ok)
      throw new DeriveUnavailable(
        `The checksum of a file could not be computed: ${outcome.reason}.`,
      )
    requireRunning()
    const { sha256 } = digestValue.parse(outcome.value)
    return (await db.transaction(tx => setDigest(db, id, sha256, tx))) ? sha256 : null
  }

  /** Makes the preview images of a file. Its bytes decide how. */
  async function picturesOf(
    source: Source,
    mediaType: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const sides = Object.values(SIDES)
    const job = { kind: 'picture', mediaType, input: { sides }, signal } as const
    const outcome = await derive.run({ ...job, source })
    if (!outcome.ok) return outcome
    const video = videoValue.safeParse(outcome.value)
    const isHeif = heifValue.safeParse(outcome.value).success
    if (!video.success && !isHeif) return outcome
    if (!(isHeif ? derive.readsHeif : derive.readsVideos))
      return { ok: false, reason: 'unsupported' }
    const taken = video.success
      ? await derive.run({
          ...job,
          kind: 'video',
          source,
          input: { ...video.data, side: SIDES.large },
        })
      : await derive.run({ ...job, kind: 'heif', source, bounds: { outputBytes: HEIF_BYTES } })
    if (!taken.ok) return taken
    const bytes = Buffer.concat(taken.outputs)
    const picture = { size: bytes.length, open: async () => Readable.from([bytes]) }
    const made = await derive.run({ ...job, source: picture, input: { sides, isUpright: true } })
    return made.ok ? { ...made, value: Object.assign({}, made.value, taken.value) } : made
  }

  /** The metadata of a file; undefined if it cannot be read. */
  async function metadataOf(
    source: Source,
    mediaType: string,
    signal: AbortSignal,
  ): Promise<Metadata | undefined> {
    const outcome = await derive.run({ kind: 'metadata', source, mediaType, signal })
    return outcome.ok ? metadataValue.safeParse(outcome.value).data : undefined
  }

  /**
   * Reads the metadata, which may fail, and makes the pictures. One after the other, so that a file
   * occupies one process.
   */
  async function readBoth(...file: Parameters<typeof picturesOf>): Promise<[Metadata, Outcome]> {
    const metadata = await metadataOf(...file)
    return [metadata ?? {}, await picturesOf(...file)]
  }

  /**
   * Renews a claim until the returned function is called, so that no other process does the same
   * work. Aborts if another process has taken the claim.
   */
  function hold(claim: Claim, ended: AbortController): () => Promise<void> {
    let beat = Promise.resolve()
    const renew = async () => {
      // During a maintenance nothing is written, and the claim expires.
      if (ended.signal.aborted || maintenance.current()) return
      const next = Date.now() + leaseMs
      if (await renewClaim(db, claim, next)) claim.until = next
      else ended.abort(new DeriveUnavailable('The claim on a preview has ended.'))
    }
    const heartbeat = setInterval(() => {
      beat = beat
        .then(renew)
        .catch(error => log.warn({ err: error }, 'could not renew the claim on a preview'))
    }, leaseMs / 4)
    heartbeat.unref()
    return async () => {
      clearInterval(heartbeat)
      await beat
    }
  }

  /** Stores the output of a process. Whatever fails, the ledger knows every object. */
  async function keep(
    source: { id: string; bucketId: string },
    claim: Claim,
    outputs: Buffer[],
    value: z.infer<typeof pictureValue> & Metadata,
  ): Promise<void> {
    const blobId = await blobs.announceCopy(source)
    try {
      const bytes = Buffer.concat(outputs)
      const stored = await store.put(blobId, one(bytes), {
        contentType: 'image/webp',
        admit: async () => {},
      })
      const [largeBytes = 0, smallBytes = 0] = outputs.map(output => output.length)
      const made = {
        blobId,
        largeBytes,
        smallBytes,
        placeholder: value.placeholder,
        ...columnsOf(value),
      }
      const isKept = await db.transaction(async tx => {
        if (!(await finishPreview(db, claim, made, source.id, tx))) {
          await dropClaim(db, claim, tx)
          return false
        }
        if (
          await makeLive(db, { id: blobId, size: stored.size, crc32: stored.crc32 }, 'copied', tx)
        )
          return true
        throw new DeriveUnavailable('The lease of a preview has ended.')
      })
      if (isKept) blobs.settled(blobId)
      else await blobs.abandonCopy(source, blobId)
    } catch (error) {
      await blobs.abandonCopy(source, blobId)
      throw error
    }
  }

  async function makeClaimed(
    blob: { id: string; bucketId: string },
    claim: Claim,
    { file, mediaType, attempts, requireRunning }: PreviewRun & { file: Source; mediaType: string },
  ): Promise<void> {
    const ended = new AbortController()
    const release = hold(claim, ended)
    try {
      const [metadata, outcome] = await readBoth(file, mediaType, ended.signal).finally(release)
      ended.signal.throwIfAborted()
      requireRunning()
      const value = outcome.ok ? pictureValue.safeParse(outcome.value) : undefined
      if (outcome.ok && value?.success && outcome.outputs.length === 2)
        return await keep(blob, claim, outcome.outputs, { ...metadata, ...value.data })
      const reason = outcome.ok ? 'unreadable' : outcome.reason
      if (PASSING.includes(reason) && attempts < TRIES)
        throw new DeriveUnavailable(`A preview could not be made: ${reason}.`)
      const failed = { reason, ...columnsOf(metadata) }
      await db.transaction(tx => failPreview(db, claim, failed, blob.id, tx))
    } catch (error) {
      // The claim also expires by itself: during a maintenance nothing is written.
      if (!maintenance.current())
        await db.transaction(tx => dropClaim(db, claim, tx)).catch(() => {})
      throw error
    }
  }

  async function makeOf(
    blob: { id: string; bucketId: string },
    digest: string,
    work: PreviewRun & { file: Source; mediaType: string },
  ): Promise<void> {
    work.requireRunning()
    const now = Date.now()
    const claim: Claim = { digest, until: now + leaseMs }
    const claimed = await db.transaction(async tx => {
      const found = await claimPreview(db, digest, { now, until: claim.until }, tx)
      // The holder of the claim may have died, so check again when the claim has expired.
      const again = { blobId: blob.id, fileType: work.mediaType }
      if (typeof found === 'number')
        await enqueueAt(db, previewJob, { payload: again, dueAt: found + 1 }, tx)
      return found
    })
    if (claimed === 'mine') await makeClaimed(blob, claim, work)
  }

  return {
    /** Reads the metadata of a blob again whose preview exists. */
    async readAgain(
      blob: Content,
      mediaType: string,
      { requireRunning }: PreviewRun,
    ): Promise<void> {
      const { signal } = new AbortController()
      const metadata = await metadataOf(sourceOf(store, blob), mediaType, signal)
      const { sha256 } = blob
      if (!metadata || !sha256) return
      requireRunning()
      await db.transaction(tx => setMetadata(db, sha256, columnsOf(metadata), tx))
    },

    /** Makes the preview of a blob, unless another process does. */
    async make(blob: Content, mediaType: string, job: PreviewRun): Promise<void> {
      await derive.withFile(sourceOf(store, blob), async file => {
        const digest = await digestOf(blob, file, mediaType, job)
        if (digest) await makeOf(blob, digest, { ...job, file, mediaType })
      })
    },
  }
}

async function* one(bytes: Buffer) {
  yield bytes
}
