import { configure, Reader, ZipReader } from '@zip.js/zip.js/lib/zip-core-custom.js'

/** Limit for the central directory at the end of an archive. Larger ones are not listed. */
const MOST_BYTES = 16 * 1024 * 1024
/** The most entries to show. */
const MOST_ENTRIES = 2000

export interface ArchiveEntry {
  /** Path in the archive, with slashes. Folders end with a slash. */
  path: string
  /** Uncompressed size in bytes; 0 for folders. */
  size: number
  isEncrypted: boolean
}

export interface ArchiveList {
  entries: ArchiveEntry[]
  /** Whether the archive has more entries. */
  hasMore: boolean
}

/** Reads the file behind a URL with range requests. */
class RangeReader extends Reader<string> {
  private readonly url: string
  private readonly signal: AbortSignal
  private left = MOST_BYTES

  constructor(url: string, size: number, signal: AbortSignal) {
    super(url)
    this.url = url
    this.size = size
    this.signal = signal
  }

  override async readUint8Array(offset: number, length: number): Promise<Uint8Array> {
    const count = Math.min(length, this.size - offset)
    if (count <= 0) return new Uint8Array()
    this.left -= count
    if (this.left < 0) throw new RangeError('The list of this archive is too long.')
    const range = `bytes=${offset}-${offset + count - 1}`
    const response = await fetch(this.url, { headers: { range }, signal: this.signal })
    if (response.status !== 206) throw new Error(`The store answered ${response.status}.`)
    return new Uint8Array(await response.arrayBuffer())
  }
}

/**
 * Lists the contents of a ZIP archive by path, without unpacking it.
 *
 * @throws if the file is not an archive or cannot be read
 */
export async function listArchive(
  url: string,
  size: number,
  signal: AbortSignal,
): Promise<ArchiveList> {
  configure({ useWebWorkers: false })
  const zip = new ZipReader(new RangeReader(url, size, signal))
  const entries: ArchiveEntry[] = []
  let hasMore = false
  for await (const {
    filename,
    uncompressedSize,
    encrypted,
    directory,
  } of zip.getEntriesGenerator()) {
    hasMore = entries.length === MOST_ENTRIES
    if (hasMore) break
    entries.push({ path: filename, size: directory ? 0 : uncompressedSize, isEncrypted: encrypted })
  }
  const compare = new Intl.Collator(undefined, { numeric: true }).compare
  return { entries: entries.sort((a, b) => compare(a.path, b.path)), hasMore }
}
