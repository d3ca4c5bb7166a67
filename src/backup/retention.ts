import { readdir, rename, rm } from 'node:fs/promises'
import { DAY_MS } from '../values/duration.ts'
import { type BackupFolder, timeOf } from './folder.ts'
import { faultOfList, listOf } from './list.ts'
import type { Progress } from './progress.ts'
import { removeBlobs } from './remove-blobs.ts'
import { cursorOver, merged } from './sorted.ts'

/** How many backups to keep: the newest ones, and those of the last days. Undefined keeps all. */
export interface Retention {
  count?: number | undefined
  days?: number | undefined
}

const REMOVED_AT_ONCE = 500

/**
 * Removes expired backups, leftovers of killed runs, and blobs that no backup references any
 * longer. Keeps folders whose names are no times.
 * @param made the backup that was just made, which is always kept; without it, the newest backup
 * and what the next one can continue are kept
 */
export async function removeOld(
  folder: BackupFolder,
  { count, days }: Retention,
  { made, progress }: { made?: string; progress: Progress },
): Promise<{ backups: string[]; blobs: number }> {
  const all = (await folder.finished()).filter(name => !Number.isNaN(timeOf(name)))
  const latest = all.at(-1)
  if (latest !== undefined && timeOf(latest) > Date.now())
    progress.warn(
      `The backup ${latest} has a time in the future. Set the clock of this machine, or remove that backup, or --keep counts it as the newest.`,
    )
  const newest = all.slice(-(count ?? 1))
  const since = days === undefined ? Number.POSITIVE_INFINITY : Date.now() - days * DAY_MS
  const isKept = (name: string) =>
    name === (made ?? latest) || newest.includes(name) || timeOf(name) >= since
  const old = count === undefined && days === undefined ? [] : all.filter(name => !isKept(name))
  const unfinished = made === undefined ? [] : await folder.unfinished()
  for (const name of [...old, ...unfinished]) await removeBackup(folder, name)
  // Left by an earlier run that was killed here.
  const aside = (await readdir(folder.path('.'))).filter(name => name.startsWith('.'))
  for (const name of aside) await rm(folder.path(name), { recursive: true, force: true })
  const changed = old.length + unfinished.length + aside.length > 0
  return { backups: old, blobs: changed ? await removeUnnamed(folder, progress) : 0 }
}

/**
 * Removes the blobs that no list references. Removes none while a list is damaged, because its
 * blobs are unknown.
 */
async function removeUnnamed(folder: BackupFolder, progress: Progress): Promise<number> {
  const names = await folder.finished()
  for (const name of names) {
    const fault = await faultOfList(folder, name)
    if (fault === undefined) continue
    progress.warn(
      `${fault} Until you have removed the folder of that backup, no files are removed from ${folder.dir}.`,
    )
    return 0
  }
  const all = [...names, ...(await folder.unfinished())]
  const named = cursorOver(merged(all.map(name => listOf(folder, name))))
  let unnamed: string[] = []
  let removed = 0
  const remove = async () => {
    await folder.requireAlone()
    removed += await removeBlobs(folder.blobs, unnamed, progress)
    unnamed = []
  }
  for await (const { key } of folder.blobs.list()) {
    if ((await named.at(key)).length > 0) continue
    unnamed.push(key)
    if (unnamed.length >= REMOVED_AT_ONCE) await remove()
  }
  if (unnamed.length > 0) await remove()
  await named.end()
  return removed
}

/**
 * Removes a backup with all its files but the blobs. Renames it first, so that a kill leaves no
 * partial backup.
 */
async function removeBackup(folder: BackupFolder, name: string): Promise<void> {
  const aside = folder.path(`.${name}`)
  await rename(folder.path(name), aside)
  await rm(aside, { recursive: true, force: true })
}
