/** A file or folder on either side of a sync. */
export interface Entry {
  kind: 'file' | 'folder'
  /** For files. */
  size: number
}

/**
 * Entries by path relative to the synced folder: names joined by slashes, NFC-normalized like on
 * the service.
 */
export type Entries<E extends Entry = Entry> = ReadonlyMap<string, E>

/** The paths of all parent folders, outermost first. */
export const foldersAbove = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))

export const byPath = <E extends Entry>(entries: Iterable<readonly [string, E]>): Map<string, E> =>
  new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))
