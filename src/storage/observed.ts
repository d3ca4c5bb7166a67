import { within } from '../runtime/within.ts'
import {
  byWord,
  outcomeOf,
  type Readings,
  type Telemetry,
  type Work,
} from '../telemetry/telemetry.ts'
import { BlobMissing, type BlobStore, BytesDiffer } from './store.ts'

/** How long the state of the store is cached: checking it uses the disk or the network. */
const FRESH_MS = 5000

/** A store that has not responded by then counts as down: a network volume may hang forever. */
const PATIENCE_MS = 1500

const outcome = (error: unknown) =>
  error instanceof BlobMissing || error instanceof BytesDiffer ? 'refused' : outcomeOf(error)

async function stateOf(store: BlobStore): Promise<Readings> {
  try {
    await store.ping()
  } catch {
    return { storeUp: 0 }
  }
  const space = await store.space().catch(() => null)
  return {
    storeUp: 1,
    ...(space ? { storeFree: space.freeBytes, storeSize: space.totalBytes } : {}),
  }
}

/** Measures and traces the calls of a store. Never exposes a blob's key. */
export function observed(store: BlobStore, telemetry: Telemetry): BlobStore {
  const running = new Map<string, number>()
  const workOf = byWord(
    (operation): Work => ({
      span: { name: `store ${operation}`, kind: 'client' },
      note: byWord(ended => telemetry.timer('storeCall', { operation, outcome: ended })),
      outcome,
    }),
  )
  const written = telemetry.counter('storeBytes', {})

  async function call<T>(operation: string, work: () => Promise<T>): Promise<T> {
    running.set(operation, (running.get(operation) ?? 0) + 1)
    try {
      return await telemetry.observe(workOf(operation), work)
    } finally {
      running.set(operation, (running.get(operation) ?? 1) - 1)
    }
  }

  telemetry.read(() => ({
    storeCalls: [...running].map(([operation, count]) => [{ operation }, count]),
  }))
  let asking: Promise<Readings> | undefined
  telemetry.read(async () => {
    let state: Readings = { storeUp: 0 }
    // A hanging store is not checked again meanwhile: each check may block a thread.
    asking ??= stateOf(store).finally(() => {
      asking = undefined
    })
    const noted = asking.then(found => {
      state = found
    })
    await within(noted, PATIENCE_MS)
    return state
  }, FRESH_MS)

  return {
    ...store,
    async put(key, source, options) {
      const uploaded = await call('put', () => store.put(key, source, options))
      written(uploaded.size)
      return uploaded
    },
    async stagePart(key, number, source, options) {
      const sum = await call('stage_part', () => store.stagePart(key, number, source, options))
      written(options.size)
      return sum
    },
    partsOf: key => call('parts_of', () => store.partsOf(key)),
    commitParts: (...given) => call('commit_parts', () => store.commitParts(...given)),
    endParts: key => call('end_parts', () => store.endParts(key)),
    tidy: finished => call('tidy', () => store.tidy(finished)),
    copy: (from, to) => call('copy', () => store.copy(from, to)),
    describe: (key, options) => call('describe', () => store.describe(key, options)),
    open: (key, options) => call('open', () => store.open(key, options)),
    chunks: (key, options) => call('chunks', () => store.chunks(key, options)),
    remove: keys => call('remove', () => store.remove(keys)),
    look: key => call('look', () => store.look(key)),
  }
}
