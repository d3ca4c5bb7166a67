import { constants, copyFile, lstat, open, rm, utimes } from 'node:fs/promises'

/**
 * A fingerprint that changes with the content. It survives a rename, although a rename changes the
 * ctime.
 */
export async function contentLook(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await lstat(path, { bigint: true })
  return [dev, ino, size, mtimeNs].join(' ')
}

/**
 * Copies a file with its mode and time to a new path, and syncs it to disk. An incomplete copy is
 * deleted.
 *
 * @returns the fingerprint of the file before the copy
 */
export async function copyWhole(from: string, to: string): Promise<string> {
  const look = await contentLook(from)
  const { atime, mtime } = await lstat(from)
  await copyFile(from, to, constants.COPYFILE_EXCL)
  try {
    await utimes(to, atime, mtime)
    // Its mode may forbid writing.
    const copy = await open(to, 'r')
    await copy.sync().finally(() => copy.close())
  } catch (error) {
    await rm(to, { force: true })
    throw error
  }
  return look
}
