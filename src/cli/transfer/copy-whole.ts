import { constants, copyFile, lstat, open, rm, utimes } from 'node:fs/promises'

/** What shows that a file has other bytes, also under another name: a rename changes its ctime. */
export async function contentLook(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await lstat(path, { bigint: true })
  return [dev, ino, size, mtimeNs].join(' ')
}

/**
 * Copies a file with its mode and time to where nothing is, and to the disk. What is not complete
 * is removed.
 * @returns how the file looked before
 */
export async function copyWhole(from: string, to: string): Promise<string> {
  const look = await contentLook(from)
  const { atime, mtime } = await lstat(from)
  await copyFile(from, to, constants.COPYFILE_EXCL)
  try {
    await utimes(to, atime, mtime)
    // Its mode may forbid to write.
    const copy = await open(to, 'r')
    await copy.sync().finally(() => copy.close())
  } catch (error) {
    await rm(to, { force: true })
    throw error
  }
  return look
}
