import { byWord, outcomeOf, type Telemetry, type Work } from '../telemetry/telemetry.ts'
import { BlobMissing, type BlobStore, BytesDiffer } from './store.ts'

/** How long a state of the store is taken for its state now: asking uses the disk, or the network. */
const FRESH_MS = 5000

const outcome = (error: unknown) =>
  error instanceof BlobMissing || error instanceof BytesDiffer ? 'refused' : outcomeOf(error)

/** Lets the calls of a store be measured and traced. No key of a blob is told. */
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

  telemetry.read(() => ({ storeCalls: [...running].map(([operation, count]) => [{ operation }, count]) }))
  telemetry.read(async () => {
    const isUp = await store.ping().then(
      () => true,
      () => false,
    )
    const space = isUp ? await store.space().catch(() => null) : null
    return { storeUp: Number(isUp), ...(space ? { storeFree: space.freeBytes, storeSize: space.totalBytes } : {}) }
  }, FRESH_MS)

  const { chunks } = store
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
    ...(chunks ? { chunks: (key, options) => call('chunks', () => chunks(key, options)) } : {}),
    remove: keys => call('remove', () => store.remove(keys)),
    look: key => call('look', () => store.look(key)),
  }
}
