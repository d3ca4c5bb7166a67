import { z } from 'zod'
import { readWhole, writeWhole } from './lines.ts'
import { BackupError } from './problem.ts'

/** Incremented whenever earlier versions of Satchel cannot restore the backups of this one. */
const FORMAT = 1

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.number().int().nonnegative()

const shape = z.object({
  format: z.literal(FORMAT),
  /** The version of Satchel that made it. */
  satchel: z.string(),
  engine: z.enum(['sqlite', 'mysql']),
  installation: z.uuid(),
  /** The time of the snapshot, and of the end of the backup, in RFC 3339. */
  snapshotAt: z.string(),
  finishedAt: z.string(),
  migrations: z.array(z.object({ name: z.string(), at: count })),
  /** In dependency order of their foreign keys. Digests are of the files. */
  tables: z.array(
    z.object({
      name: z.string().regex(/^\w+$/),
      rows: count,
      sha256,
      create: z.string(),
      indexes: z.array(z.string()),
    }),
  ),
  /**
   * `copied` counts blobs that no earlier backup in the folder had. `missing` and `damaged` count
   * faults in the store.
   */
  blobs: z.object({
    count,
    bytes: count,
    copied: count,
    copiedBytes: count,
    missing: count,
    damaged: count,
    sha256,
  }),
  /** Null if the backup excludes the secret. */
  secret: sha256.nullable(),
})

/** The content of a backup. */
export type Manifest = z.output<typeof shape>

export const newManifest = (facts: Omit<Manifest, 'format'>): Manifest => ({
  format: FORMAT,
  ...facts,
})

export const writeManifest = (path: string, manifest: Manifest): Promise<void> =>
  writeWhole(path, `${JSON.stringify(manifest, null, 2)}\n`)

/** @throws BackupError */
export async function readManifest(path: string): Promise<Manifest> {
  const written = parsed(await readWhole(path), path)
  const { format } = (written ?? {}) as { format?: unknown }
  if (typeof format === 'number' && format > FORMAT)
    throw new BackupError(
      `${path} was written by a later version of Satchel (format ${format}). Use that version.`,
    )
  const read = shape.safeParse(written)
  if (!read.success)
    throw new BackupError(
      `${path} is not a manifest of a backup: ${read.error.issues[0]?.message}.`,
    )
  return read.data
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BackupError(
      `${path} is not JSON, so this backup cannot be restored. Use another one.`,
      { cause: error },
    )
  }
}

/** A blob in a backup's list. */
export interface ListedBlob {
  id: string
  size: number
  /** The digest of the backup's copy; absent if the store lacked the blob. */
  sha256?: string
  /** How the blob differs from the one in the database. */
  problem?: 'missing' | 'damaged'
}
