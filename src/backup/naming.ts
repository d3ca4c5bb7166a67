import { causesOf, Unavailable } from '../runtime/errors.ts'
import { codeOf } from '../storage/files.ts'
import type { BlobStore } from '../storage/store.ts'

/** Thrown when the blob store of the installation fails, as opposed to the backup folder. */
export class StoreFailed extends Error {
  constructor(store: BlobStore, cause: unknown) {
    const [first] = [...causesOf(cause)].reverse()
    super(
      `The blob store (${store.label}) failed: ${first?.message}. Correct that, and run the command again: it continues.`,
      {
        cause,
      },
    )
    this.name = 'StoreFailed'
  }
}

/**
 * Wraps a store so that its errors are distinguishable from those of the backup folder. For stores
 * that backups and restores use.
 */
export function naming(store: BlobStore): BlobStore {
  const failed = (error: unknown): never => {
    throw error instanceof Unavailable || codeOf(error) ? new StoreFailed(store, error) : error
  }
  const { readMany, putMany } = store
  return {
    ...store,
    marker: () => store.marker().catch(failed),
    prepare: () => store.prepare().catch(failed),
    bind: (...given) => store.bind(...given).catch(failed),
    async put(key, source, options) {
      // The error of the source, which comes from the backup folder.
      let ofSource: unknown
      async function* watched() {
        try {
          yield* source
        } catch (error) {
          ofSource = error
          throw error
        }
      }
      return store.put(key, watched(), options).catch(error => {
        if (error === ofSource) throw error
        return failed(error)
      })
    },
    ...(readMany ? { readMany: keys => readMany(keys).catch(failed) } : {}),
    ...(putMany ? { putMany: blobs => putMany(blobs).catch(failed) } : {}),
    open: (...given) => store.open(...given).catch(failed),
    look: key => store.look(key).catch(failed),
    remove: keys => store.remove(keys).catch(failed),
    async *list() {
      try {
        yield* store.list()
      } catch (error) {
        failed(error)
      }
    },
  }
}
