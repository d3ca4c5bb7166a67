import type { Db } from '../../db/index.ts'
import type { BlobStore } from '../storage/store.ts'

/** The kinds of problems, as stable machine-readable names. */
export type FindingKind =
  | 'object-unknown'
  | 'object-missing'
  | 'size-differs'
  | 'upload-overdue'
  | 'copy-overdue'
  | 'upload-ended'
  | 'request-counts'
  | 'removal-overdue'
  | 'blob-unnamed'
  | 'blob-references'
  | 'file-without-blob'
  | 'folder-totals'
  | 'folder-loop'
  | 'parent-missing'
  | 'bucket-missing'
  | 'bucket-counts'
  | 'purge-forgotten'
  | 'trash-item-empty'
  | 'version-without-file'
  | 'version-without-blob'
  | 'media-type-wrong'
  | 'preview-broken'
  | 'picture-misplaced'
  | 'text-unused'
  | 'text-missing'
  | 'search-damaged'
  | 'search-missing'
  | 'tag-misplaced'
  | 'favourite-empty'
  | 'job-failing'
  | 'job-given-up'

/** A difference between the database and the store, or within the database. */
export interface Finding {
  kind: FindingKind
  /** The id of the row or object. */
  id: string
  /** One plain sentence. */
  message: string
  repaired: boolean
}

/**
 * A finding, with its repair if there is a safe one. The repair checks again under the service's
 * locks, and acts only if needed.
 */
export interface Problem extends Omit<Finding, 'repaired'> {
  /** @returns false if the problem remains */
  repair?: () => Promise<unknown>
}

/** The input of every check. */
export interface Installation {
  db: Db
  store: BlobStore
  /**
   * The age in milliseconds below which seemingly left-over data may belong to running work of any
   * instance.
   */
  graceMs: number
  /** Whether content search is on, so that files have indexed texts. */
  searchContents?: boolean
  /** The file of the search index. */
  searchFile?: string
}

/** Reads all rows of a query in pages. Each page starts after the last key of the previous one. */
export async function* pages<T>(
  next: (after: string) => Promise<T[]>,
  keyOf: (row: T) => string,
): AsyncGenerator<T[]> {
  for (let page = await next(''); page.length > 0; page = await next(page.map(keyOf).at(-1) ?? ''))
    yield page
}

/** Like `pages`, but row by row, sorted by id. */
export async function* rowsOf<T extends { id: string }>(
  next: (after: string) => Promise<T[]>,
): AsyncGenerator<T> {
  for await (const page of pages(next, row => row.id)) yield* page
}
