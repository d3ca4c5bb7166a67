import limitTo from 'p-limit'
import { findFiles } from '../find-place.ts'
import { joinPath } from '../path.ts'
import { DEEPEST, type FilesPlace, type Listing, notFound, type RemoteFile } from '../place.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, plural, table, when } from '../table.ts'
import { plain } from '../text.ts'

const shown = (place: FilesPlace, path: string, { name, ...file }: RemoteFile) => ({
  name,
  path: place.show(joinPath(path, name)),
  ...file,
})

export async function ls(context: Context, text: string, long: boolean): Promise<Answer> {
  const service = await open(context)
  const { place, path, isFolder } = await findFiles(service, text)
  let { folders, files }: Listing = await place.list(path)
  let folder = path
  if (folders.length + files.length === 0 && path !== '') {
    // Listing an unknown path also returns nothing.
    const found = await place.find(path)
    if (!found || (found.kind === 'file' && isFolder)) throw notFound(place.show(path))
    if (found.kind === 'file') {
      ;({ folders, files } = { folders: [], files: [found.file] })
      folder = path.slice(0, -found.file.name.length).replace(/\/$/, '')
    }
  }
  const { colors } = context
  const fact = {
    path: place.show(folder),
    folders: folders.map(({ updatedAt: _, ...f }) => ({
      ...f,
      path: place.show(joinPath(folder, f.name)),
    })),
    files: files.map(file => shown(place, folder, file)),
  }
  if (!long) {
    const names = [
      ...folders.map(({ name }) => colors.blue(`${plain(name)}/`)),
      ...files.map(({ name }) => plain(name)),
    ]
    return { fact, words: names.join('\n') }
  }
  const rows = [
    ...folders.map(f => [
      bytes(f.size),
      when(f.updatedAt),
      f.fileCount === undefined ? '' : plural(f.fileCount, 'file'),
      `${f.name}/`,
    ]),
    ...files.map(f => [bytes(f.size), when(f.modifiedAt), f.md5Checksum, f.name]),
  ]
  const total = [...folders, ...files].reduce((sum, { size }) => sum + size, 0)
  const sum = `${plural(folders.length, 'folder')}, ${plural(files.length, 'file')}, ${bytes(total)}`
  return { fact, words: `${rows.length > 0 ? `${table([], rows)}\n` : ''}${colors.dim(sum)}` }
}

interface Branch {
  name: string
  path: string
  folders: Branch[]
  files: ReturnType<typeof shown>[]
}

export async function tree(context: Context, text: string, depth = DEEPEST): Promise<Answer> {
  const service = await open(context)
  const { place, path } = await findFiles(service, text)
  const limit = limitTo(8)

  async function grow(name: string, at: string, levels: number): Promise<Branch> {
    const { folders, files } = await limit(() => place.list(at))
    return {
      name,
      path: place.show(at),
      folders: await Promise.all(
        folders.map(({ name: inner }) =>
          levels > 1
            ? grow(inner, joinPath(at, inner), levels - 1)
            : { name: inner, path: place.show(joinPath(at, inner)), folders: [], files: [] },
        ),
      ),
      files: files.map(file => shown(place, at, file)),
    }
  }

  const root = await grow('', path, depth)
  if (
    path !== '' &&
    root.folders.length + root.files.length === 0 &&
    (await place.find(path))?.kind !== 'folder'
  )
    throw notFound(place.show(path))
  const { colors } = context
  const lines = [colors.blue(plain(root.path)), ...draw(root, '', colors.blue)]
  const { folders, files, size } = countIn(root)
  const sum = `${plural(folders, 'folder')}, ${plural(files, 'file')}, ${bytes(size)}`
  return { fact: root, words: [...lines, colors.dim(sum)].join('\n') }
}

function* draw(branch: Branch, indent: string, paint: (text: string) => string): Generator<string> {
  const rest = [...branch.folders, ...branch.files]
  for (const [i, entry] of rest.entries()) {
    const last = i === rest.length - 1
    const isFolder = 'folders' in entry
    yield `${indent}${last ? '└── ' : '├── '}${isFolder ? paint(`${plain(entry.name)}/`) : plain(entry.name)}`
    if (isFolder) yield* draw(entry, `${indent}${last ? '    ' : '│   '}`, paint)
  }
}

function countIn(branch: Branch): { folders: number; files: number; size: number } {
  const sum = {
    folders: branch.folders.length,
    files: branch.files.length,
    size: branch.files.reduce((total, { size }) => total + size, 0),
  }
  for (const inner of branch.folders.map(countIn)) {
    sum.folders += inner.folders
    sum.files += inner.files
    sum.size += inner.size
  }
  return sum
}
