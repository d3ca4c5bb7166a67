import type { PlacedEntryFragment } from './generated.ts'
import { inDrive } from './place.ts'
import { bytes, when } from './table.ts'

/** An entry of any drive, in the printed form of lists over several drives. */
export function placed({
  __typename: type,
  id,
  name,
  path,
  size,
  updatedAt,
  drive,
}: PlacedEntryFragment) {
  const isFolder = type === 'Folder'
  const { owner } = drive
  const front = owner && 'slug' in owner ? `${owner.slug}:` : ''
  return {
    id,
    name,
    path: `${front}/${inDrive(path)}`,
    kind: isFolder ? 'folder' : 'file',
    size,
    updatedAt,
  }
}

export type Placed = ReturnType<typeof placed>

/** The path, with a trailing slash for folders. */
export const pathWords = ({ kind, path }: Pick<Placed, 'kind' | 'path'>): string =>
  kind === 'folder' ? `${path}/` : path

/** Size, time and path. */
export const rowOf = (entry: Placed): string[] => [
  bytes(entry.size),
  when(entry.updatedAt),
  pathWords(entry),
]
