/** The files that hold the bytes of all blobs, one body behind the other. */
export interface ExtentStore {
  /** Those that are still written to: they are not swept. */
  activeWriteExtents: { id: string }[]
  metadataStore: { updateExtent(extent: object): Promise<void> }
  createAppendExtent(locationId: string): { id: string }
  generateExtentPath(locationId: string, id: string): string
  /** Resolves to where the bytes stand. */
  appendExtent(body: import('node:stream').Readable): Promise<{ id: string; offset: number; count: number }>
  /** Deletes files that nothing refers to, and resolves to their number. */
  deleteExtents(ids: Iterable<string>): Promise<number>
}

// Like all of the child's program these are handed over as text: each may use nothing from outside of its own braces.

/** Azurite sweeps by what it has in memory; but what is not on the disk a start takes back. And it sweeps what was in use when it began. */
export function sweepLate(store: ExtentStore, flush: () => Promise<void>, tell: (line: string) => void): void {
  const deleteExtents = store.deleteExtents.bind(store)
  store.deleteExtents = async ids => {
    const inUse = new Set(store.activeWriteExtents.map(({ id }) => id))
    const unused = [...ids].filter(id => !inUse.has(id))
    try {
      await flush()
      return await deleteExtents(unused)
    } catch (error) {
      tell(`Nothing could be swept: ${error}`)
      return 0
    }
  }
}

/**
 * Gives each body a file to itself while it comes, of as many as that takes. Azurite has a fixed number, which slow senders can use up.
 * It writes to one of them at once when none is free, loses one that it cannot open, and cuts one back in which it may still be writing.
 */
export function writeApart(
  load: NodeJS.Require,
  store: ExtentStore,
  location: string,
  tell: (line: string) => void,
  flushTable: () => Promise<void>,
): void {
  const fs: typeof import('node:fs') = load('node:fs')
  const { promisify }: typeof import('node:util') = load('node:util')
  const [write, flush] = [promisify(fs.write), promisify(fs.fdatasync)]
  const fullFile = 64 * 1024 * 1024
  const maxFree = 50
  const files = store.activeWriteExtents
  files.length = 0
  type File = { id: string; fd: number; offset: number }
  const free: File[] = []

  const make = () => {
    const { id } = store.createAppendExtent(location)
    const file = { id, fd: fs.openSync(store.generateExtentPath(location, id), 'a', 0o600), offset: 0 }
    files.push(file)
    return file
  }
  const retire = (file: File) => {
    // A minute later, because what was written last may not be in the table of blobs yet.
    setTimeout(() => files.splice(files.indexOf(file), 1), 60_000).unref()
    fs.close(file.fd, () => {})
  }
  const giveBack = (file: File) => {
    if (file.offset < fullFile && free.length < maxFree) free.push(file)
    else retire(file)
  }
  const cutBack = (file: File) => {
    try {
      fs.ftruncateSync(file.fd, file.offset)
      giveBack(file)
    } catch {
      retire(file)
    }
  }
  /** A file that is in the table is swept when nothing is in it. */
  const record = ({ id }: File, size: number) =>
    store.metadataStore.updateExtent({ id, locationId: location, path: id, size, lastModifiedInMS: Date.now() })

  store.appendExtent = async body => {
    let file: File | undefined
    try {
      file = free.pop() ?? make()
      const { id, fd, offset } = file
      if (offset === 0) {
        await record(file, 0)
        await flushTable()
      }
      let count = 0
      for await (const chunk of body.iterator({ destroyOnReturn: false })) {
        for (let from = 0; from < chunk.length; ) from += (await write(fd, chunk, from)).bytesWritten
        count += chunk.length
      }
      await flush(fd)
      await record(file, offset + count)
      file.offset += count
      giveBack(file)
      return { id, offset, count }
    } catch (error) {
      // A connection whose request nobody reads to its end would be silent to the next one.
      body.resume()
      if (file) cutBack(file)
      // A body that breaks off names no call of the system.
      if (error instanceof Error && 'syscall' in error) tell(error.message)
      throw error
    }
  }
}
