import { createHash } from 'node:crypto'
import type { Db } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import { type ArchivedRow, archivedBelow, archivedEntries } from '../../../db/queries/archive.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { namesApart } from '../../upload-engine/names-apart.ts'
import { figure, MAX_ARCHIVED } from '../../values/limits.ts'
import { portableNames } from './portable-name.ts'
import type { ZipEntry } from './zip-layout.ts'

/**
 * An entry at the top of an archive and its name there. The name of a folder is empty if only its
 * contents are archived.
 */
export interface ArchiveRoot {
  id: string
  name: string
}

const tooMany = (count: number) =>
  new InvalidInput(
    'entries',
    `These are ${figure(count)} files and folders in total; an archive can contain ${figure(MAX_ARCHIVED)}. Download them in several archives.`,
  )

const toEntry = (row: ArchivedRow, prefix: string, name = row.name): ZipEntry => ({
  prefix,
  name: row.kind === FOLDER ? `${name}/` : name,
  blobId: row.blobId,
  size: row.kind === FOLDER ? 0 : Number(row.size),
  crc32: row.crc32 === null ? null : Number.parseInt(row.crc32, 16),
  modifiedAt: Number(row.modifiedAt),
})

/** Sorts by folder, then by name, so that equal entries always give the same order. */
const inOrder = (a: ZipEntry, b: ZipEntry): number =>
  a.prefix === b.prefix ? (a.name < b.name ? -1 : 1) : a.prefix < b.prefix ? -1 : 1

/**
 * The contents of an archive: some entries and everything below them. Reads a few thousand rows at
 * a time, each once. Does not authorize.
 * @throws INVALID_INPUT for too many entries
 */
export async function zipEntries(db: Db, roots: readonly ArchiveRoot[]): Promise<ZipEntry[]> {
  const apart = namesApart(roots.map(({ name }) => name))
  const names = new Map(roots.map(({ id }, i) => [id, apart[i] ?? '']))
  const found = await archivedEntries(db, [...names.keys()])
  const count = found.reduce((sum, { entries }) => sum + Number(entries), found.length)
  if (count > MAX_ARCHIVED) throw tooMany(count)
  const all: ZipEntry[] = []
  /** The folders whose contents are still to be read. */
  let prefixes = new Map<string, string>()
  const take = (row: ArchivedRow, prefix: string, name = row.name) => {
    if (name !== '') all.push(toEntry(row, prefix, name))
    return row.kind === FOLDER ? (name === '' ? '' : `${prefix}${name}/`) : undefined
  }
  let folders: Pick<ArchivedRow, 'id' | 'entries'>[] = []
  const enter = ({ id, entries }: ArchivedRow, prefix: string | undefined) => {
    if (prefix === undefined) return
    prefixes.set(id, prefix)
    folders.push({ id, entries: Number(entries) })
  }
  for (const row of found) enter(row, take(row, '', names.get(row.id)))
  while (folders.length > 0) {
    const above = prefixes
    const level = folders
    prefixes = new Map()
    folders = []
    for await (const rows of archivedBelow(db, level)) {
      for (const row of rows) enter(row, take(row, above.get(row.parentId) ?? ''))
      // More than counted, because entries are being added.
      if (all.length > MAX_ARCHIVED) throw tooMany(all.length)
    }
  }
  return portable(all.sort(inOrder))
}

/**
 * The same entries with names that Windows and macOS can unpack.
 * @param entries in order: a folder before its contents
 */
function portable(entries: readonly ZipEntry[]): ZipEntry[] {
  const folders = new Map<string, ZipEntry[]>()
  for (const entry of entries) {
    const folder = folders.get(entry.prefix)
    if (folder) folder.push(entry)
    else folders.set(entry.prefix, [entry])
  }
  /** The new prefixes of folders, by their former ones. */
  const prefixes = new Map<string, string>()
  const made = [...folders].flatMap(([prefix, found]) => {
    const above = prefixes.get(prefix) ?? prefix
    const names = portableNames(found.map(({ name }) => name.replace(/\/$/, '')))
    return found.map((entry, at) => {
      const name = `${names[at] ?? ''}${entry.blobId === null ? '/' : ''}`
      if (entry.blobId === null) prefixes.set(`${prefix}${entry.name}`, `${above}${name}`)
      return { ...entry, prefix: above, name }
    })
  })
  return made.sort(inOrder)
}

/**
 * A digest of the contents of an archive. Equal bytes have equal digests.
 * @param described see `zipLayout`
 */
export function digestOf(entries: readonly ZipEntry[], described: boolean): string {
  const hash = createHash('sha256').update(described ? 'described' : '')
  // Another instance may be in another time zone, in which archives have their times.
  hash.update(`${Intl.DateTimeFormat().resolvedOptions().timeZone}\0`)
  for (const { prefix, name, blobId, modifiedAt } of entries)
    hash.update(`${prefix}${name}\0${blobId ?? ''}\0${modifiedAt}\0`)
  return hash.digest('base64url').slice(0, 22)
}
