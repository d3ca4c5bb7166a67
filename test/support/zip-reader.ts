import { type FileEntry, Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js'

export interface ReadEntry {
  text: string
  /** In seconds since 1970. */
  at: number
}

/**
 * The contents of a ZIP archive by path, as read by an independent program, which verifies the
 * checksums. The text of a folder is empty.
 */
export async function readZip(bytes: Uint8Array): Promise<Map<string, ReadEntry>> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes), { useWebWorkers: false })
  const found = new Map<string, ReadEntry>()
  for (const entry of await reader.getEntries()) {
    const read = async (file: FileEntry) =>
      Buffer.from(await file.getData(new Uint8ArrayWriter(), { checkSignature: true })).toString()
    const text = entry.directory ? '' : await read(entry)
    if (found.has(entry.filename)) throw new Error(`The archive has two entries ${entry.filename}.`)
    found.set(entry.filename, { text, at: Math.round(entry.lastModDate.getTime() / 1000) })
  }
  await reader.close()
  return found
}
