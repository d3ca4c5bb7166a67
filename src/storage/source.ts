import type { Source } from '../derive/derive.ts'
import type { BlobStore } from './store.ts'

/**
 * A blob as the source of a derivation. If the store keeps it in a local file, that file is used
 * without a copy.
 */
export const sourceOf = (store: BlobStore, { id, size }: { id: string; size: number }): Source =>
  store.fileOf
    ? { path: store.fileOf(id) }
    : { size, open: signal => store.open(id, signal ? { signal } : {}) }
