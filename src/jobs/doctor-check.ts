import type { Db } from '../../db/index.ts'
import type { BlobStore } from '../storage/store.ts'

/** What can be found, as machine words. */
export type FindingKind =
  | 'object-unknown'
  | 'object-missing'
  | 'size-differs'
  | 'upload-overdue'
  | 'copy-overdue'
  | 'upload-ended'
  | 'removal-overdue'
  | 'blob-unnamed'
  | 'file-without-blob'
  | 'folder-totals'
  | 'folder-loop'
  | 'parent-missing'
  | 'bucket-missing'
  | 'bucket-counts'
  | 'purge-forgotten'
  | 'job-failing'
  | 'job-given-up'

/** A difference between what is remembered and what is there. */
export interface Finding {
  kind: FindingKind
  /** Of the row or of the object. */
  id: string
  /** One plain sentence. */
  message: string
  repaired: boolean
}

/** A difference with its cure, if there is a safe one: it looks again under the locks of the service, and acts if need be. */
export interface Problem extends Omit<Finding, 'repaired'> {
  /** Answers whether all is well now. */
  repair?: () => Promise<boolean>
}

/** What every check is given. */
export interface Installation {
  db: Db
  store: BlobStore
  /** Milliseconds that what looks left over may be work under way, of this or of another instance. */
  graceMs: number
}

/** All rows of a statement that is asked for again and again, each time from behind the last row. */
export async function* pages<T>(next: (last: T | undefined) => Promise<T[]>): AsyncGenerator<T[]> {
  let last: T | undefined
  for (;;) {
    const page = await next(last)
    if (page.length === 0) return
    yield page
    last = page.at(-1)
  }
}
