/** A dropped, pasted or picked file. */
export interface Gathered {
  file: File
  /** Its folders, joined by slashes. */
  folder: string
  /** Reopens the file after a reload, in browsers with such handles. */
  handle?: FileSystemFileHandle
  /** Cache key, if the system shared the file with the console. */
  arrived?: string
}

export interface Gathering {
  files: Gathered[]
  /** Paths of empty folders. */
  emptyFolders: string[]
  /** Paths that the browser may not read. */
  unreadable: string[]
}

const join = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`)

/** The files of an input, possibly of a whole folder. */
export const fromInput = (files: FileList): Gathering => ({
  files: [...files].map(file => ({
    file,
    folder: file.webkitRelativePath.split('/').slice(0, -1).join('/'),
  })),
  emptyFolders: [],
  unreadable: [],
})

/** Dropped or pasted files, including the contents of folders. Must be called during the event. */
export async function fromTransfer({ items }: DataTransfer): Promise<Gathering> {
  // The browser clears the list after the event.
  const found = [...items]
    .filter(({ kind }) => kind === 'file')
    .map(item => ({
      handle: item.getAsFileSystemHandle?.() ?? Promise.resolve(null),
      entry: item.webkitGetAsEntry(),
      file: item.getAsFile(),
    }))
  const gathering: Gathering = { files: [], emptyFolders: [], unreadable: [] }
  for (const { handle, entry, file } of found) {
    const known = await handle.catch(() => null)
    if (known) await addHandle(known, '', gathering)
    // WebKit cannot read the entry of a file that is not on disk, such as a picture dragged from a
    // page.
    else if (file && !entry?.isDirectory) gathering.files.push({ file, folder: '' })
    else if (entry) await addEntry(entry, '', gathering)
  }
  return gathering
}

/** Picked files, including the contents of folders. */
export async function fromHandles(handles: FileSystemHandle[]): Promise<Gathering> {
  const gathering: Gathering = { files: [], emptyFolders: [], unreadable: [] }
  for (const handle of handles) await addHandle(handle, '', gathering)
  return gathering
}

async function addHandle(
  handle: FileSystemHandle,
  folder: string,
  gathering: Gathering,
): Promise<void> {
  const path = join(folder, handle.name)
  try {
    if (isFile(handle)) {
      gathering.files.push({ file: await handle.getFile(), folder, handle })
      return
    }
    let isEmpty = true
    for await (const inner of (handle as FileSystemDirectoryHandle).values()) {
      isEmpty = false
      await addHandle(inner, path, gathering)
    }
    if (isEmpty) gathering.emptyFolders.push(path)
  } catch {
    gathering.unreadable.push(path)
  }
}

const isFile = (handle: FileSystemHandle): handle is FileSystemFileHandle => handle.kind === 'file'

async function addEntry(
  entry: FileSystemEntry,
  folder: string,
  gathering: Gathering,
): Promise<void> {
  const path = join(folder, entry.name)
  try {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      )
      gathering.files.push({ file, folder })
      return
    }
    const inner = await entriesOf(entry as FileSystemDirectoryEntry)
    if (inner.length === 0) gathering.emptyFolders.push(path)
    for (const one of inner) await addEntry(one, path, gathering)
  } catch {
    gathering.unreadable.push(path)
  }
}

/** Folders are read in batches; an empty batch marks the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const entries: FileSystemEntry[] = []
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (batch.length === 0) return entries
    entries.push(...batch)
  }
}
