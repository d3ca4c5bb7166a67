import { Readable } from 'node:stream'
import type { BlobStore } from '../../src/storage/store.ts'

/** A request to a store. */
export type StoreRequest =
  | 'part'
  | 'parts'
  | 'commit'
  | 'copy'
  | 'look'
  | 'read'
  | 'describe'
  | 'remove'

/** A gate between a service and its store. */
export interface StoreGate {
  /**
   * Called before each request. It may wait or throw. Requests that may take long have a signal.
   */
  interfere: (kind: StoreRequest, key: string, signal?: AbortSignal) => unknown
}

/** Puts a gate before the store of a service. A part is complete before it reaches the gate. */
export function gateOf(store: BlobStore): StoreGate {
  const gate: StoreGate = { interfere: () => {} }
  const { stagePart, partsOf, commitParts, copy, look, open, chunks, describe, remove } = store
  const before =
    <A extends [string, ...unknown[]], T>(kind: StoreRequest, work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await gate.interfere(kind, args[0])
      return work(...args)
    }
  Object.assign(store, {
    partsOf: before('parts', partsOf),
    commitParts: async (key, count, options) => {
      await gate.interfere('commit', key, options.signal)
      return commitParts(key, count, options)
    },
    copy: before('copy', copy),
    look: before('look', look),
    open: async (key, options) => {
      await gate.interfere('read', key, options?.signal)
      return open(key, options)
    },
    chunks: async (key, options) => {
      await gate.interfere('read', key, options.signal)
      return chunks(key, options)
    },
    describe: before('describe', describe),
  } satisfies Partial<BlobStore>)
  store.stagePart = async (key, number, source, options) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of source) chunks.push(chunk)
    await gate.interfere('part', key)
    return stagePart(key, number, Readable.from(chunks), options)
  }
  store.remove = async keys => {
    for (const key of keys) await gate.interfere('remove', key)
    await remove(keys)
  }
  return gate
}
