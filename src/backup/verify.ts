import { BlobMissing } from '../storage/store.ts'
import { BlobUnreadable, digestOfBlob, eachAtOnce } from './copy.ts'
import { type BackupFolder, LIST, SECRET, tableFile } from './folder.ts'
import { requireIntact } from './lines.ts'
import { listOf } from './list.ts'
import type { ListedBlob, Manifest } from './manifest.ts'
import { BackupError } from './problem.ts'
import type { Progress } from './progress.ts'
import { batches, merged } from './sorted.ts'

const AT_A_TIME = { count: 1000, bytes: 1024 ** 3 }

/**
 * Compares all files of a backup except the blobs with its manifest.
 * @throws BackupError
 */
export async function requireWhole(
  folder: BackupFolder,
  backup: string,
  manifest: Manifest,
): Promise<void> {
  for (const { name, sha256 } of manifest.tables)
    await requireIntact(folder.path(backup, tableFile(name)), sha256)
  await requireIntact(folder.path(backup, LIST), manifest.blobs.sha256)
  if (manifest.secret !== null) await requireIntact(folder.path(backup, SECRET), manifest.secret)
}

/**
 * Reads all backups of a folder and each of their blobs once, and compares their digests. Removes
 * changed blobs, so that the next backup copies them again.
 * @returns the number of problems
 */
export async function verifyBackups(
  folder: BackupFolder,
  progress: Progress,
): Promise<{ backups: number; blobs: number; problems: number }> {
  const names = await folder.finished()
  let problems = 0
  const report = (message: string) => {
    problems += 1
    progress.warn(message)
  }
  const total = { items: 0, bytes: 0 }
  const whole: string[] = []
  progress.step('Verifying the databases')
  for (const name of names)
    try {
      const manifest = await folder.manifest(name)
      await requireWhole(folder, name, manifest)
      whole.push(name)
      total.items = Math.max(total.items, manifest.blobs.count)
      total.bytes = Math.max(total.bytes, manifest.blobs.bytes)
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      report(error.message)
    }

  progress.step('Verifying files', total)
  const verify = async ({ id, sha256, size }: ListedBlob) => {
    try {
      if (sha256 !== undefined && (await digestOfBlob(folder.blobs, id)) !== sha256) {
        await folder.blobs.remove([id])
        report(
          `The blob ${id} has changed in the backup and was removed. The next backup copies it again.`,
        )
      }
    } catch (error) {
      if (error instanceof BlobUnreadable)
        return report(
          `The blob ${id} cannot be read in the backup (${error.code}). If that lasts, remove its file: the next backup copies it again.`,
        )
      if (!(error instanceof BlobMissing)) throw error
      report(`The blob ${id} is missing in the backup. The next backup copies it again.`)
    }
    progress.add(1, size)
  }
  let blobs = 0
  for await (const some of batches(
    distinct(merged(whole.map(name => listOf(folder, name)))),
    AT_A_TIME,
  )) {
    await eachAtOnce(some, verify)
    blobs += some.length
  }
  return { backups: names.length, blobs, problems }
}

/** Each blob once, preferring an item with a digest. */
async function* distinct(source: AsyncIterable<ListedBlob>): AsyncGenerator<ListedBlob> {
  let last: ListedBlob | undefined
  for await (const item of source) {
    if (last && last.id !== item.id) yield last
    last =
      last?.id === item.id &&
      last.sha256 !== undefined &&
      (last.problem === undefined || item.sha256 === undefined)
        ? last
        : item
  }
  if (last) yield last
}
