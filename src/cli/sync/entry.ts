/** A file or a folder on either side of a synchronization. */
export interface Entry {
  kind: 'file' | 'folder'
  /** Of a file. */
  size: number
}

/**
 * Entries by their path below the folder that is synchronized: names joined by slashes,
 * NFC-normalized as the service does.
 */
export type Entries<E extends Entry = Entry> = ReadonlyMap<string, E>

/** The paths of the folders that something is in, the outermost first. */
export const foldersAbove = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))

export const byPath = <E extends Entry>(entries: Iterable<readonly [string, E]>): Map<string, E> =>
  new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))
