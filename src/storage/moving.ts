import { merged } from './s3-listing.ts'
import { BlobMissing, type BlobStore, BlobsKept, ForeignStore } from './store.ts'

/** What the ledger knows about the stores of an installation: docs/decisions/moving-blobs.md. */
export interface Places {
  /**
   * The latest move, possibly a moment out of date. Number 0 is the first store of an installation.
   */
  last(): Promise<{ number: number; isFinished: boolean }>
  /** The store number of each of these blobs. */
  of(keys: string[]): Promise<Map<string, number>>
  /** Some blobs that are in a store older than `number`. */
  someBefore(number: number): Promise<string[]>
}

interface Stores {
  from: BlobStore
  to: BlobStore
  places: Places
}

/** The move that two stores belong to. */
export interface Route {
  /** The number of the second store. */
  target: number
  /** Whether all blobs have been moved, so that the first store may be gone. */
  isDone: boolean
}

/**
 * Determines which move two stores belong to, from their labels. Writes nothing.
 * @throws ForeignStore if they belong to no move
 */
export async function routeOf({ from, to, places }: Stores, installation: string): Promise<Route> {
  const { number, isFinished } = await places.last()
  const there = await to.marker()
  const isOurs = there?.installation === installation
  // The settings of a finished move may stay until the next start. Its source may be gone.
  const isDone = number > 0 && isFinished && isOurs && there.number === number
  const target = isFinished && !isDone ? number + 1 : number
  if (from.label === to.label || (isOurs && there.number === target - 1))
    throw new ForeignStore(
      `${to.label}: the settings with and without MOVE_FROM_ name the same store`,
    )
  const hasBegun = target === number
  if (!isDone) await requireSource({ from, places }, { target, hasBegun })
  return { target, isDone }
}

/**
 * Before the first move a store may have no label, and its blobs show whether it is the wrong
 * store. Once a move has begun, the store has a label, because missing blobs no longer prove that
 * it is the wrong one.
 */
async function requireSource(
  { from, places }: Pick<Stores, 'from' | 'places'>,
  { target, hasBegun }: { target: number; hasBegun: boolean },
): Promise<void> {
  if (hasBegun) {
    if (await from.marker()) return
    throw new ForeignStore(
      `${from.label} is not the store that the files are being moved from. Correct the settings with MOVE_FROM_`,
    )
  }
  const some = await places.someBefore(target)
  let failure: unknown
  const has = (key: string) =>
    from.look(key).catch(error => {
      failure = error
      return null
    })
  for (const key of some) if (await has(key)) return
  if (failure) throw failure
  if (some.length > 0)
    throw new ForeignStore(
      `${from.label} has none of the files that were looked for, such as the blob ${some[0]}. Correct the settings with MOVE_FROM_. If these files are lost, delete them first: "npm run doctor" names them`,
    )
}

/**
 * Presents two stores as one while blobs move from the first to the second. New blobs go to the
 * first store until the move begins, and to the second one afterwards. Reads find a blob in either
 * store. An upload stays in the store in which it began, which the ledger records.
 */
export function createMovingStore({ from, to, places }: Stores): BlobStore {
  /** The number of the second store; the first one has the number before it. */
  let target = 1
  /** The stores that may have a blob, in lookup order. */
  async function stores(): Promise<BlobStore[]> {
    const { number, isFinished } = await places.last()
    if (number < target) return [from, to]
    return isFinished ? [to] : [to, from]
  }
  const current = async () => Math.min(target, Math.max(target - 1, (await places.last()).number))
  const storeWith = (number: number) => (number >= target ? to : from)
  const storeOf = async (key: string) =>
    storeWith((await places.of([key])).get(key) ?? (await current()))

  /**
   * Runs `work` on the store that has the blob.
   * @throws BlobMissing
   */
  async function find<T>(key: string, work: (store: BlobStore) => Promise<T>): Promise<T> {
    for (const store of await stores())
      try {
        return await work(store)
      } catch (error) {
        if (!(error instanceof BlobMissing)) throw error
      }
    throw new BlobMissing(key)
  }

  const inBoth = async (work: (store: BlobStore) => Promise<unknown>) => {
    for (const store of await stores()) await work(store)
  }

  return {
    label: `${to.label}; blobs are moved there from ${from.label}`,
    isMoving: true,
    maxParts: Math.min(from.maxParts, to.maxParts),
    uploadMemory: {
      upload: Math.max(from.uploadMemory.upload, to.uploadMemory.upload),
      part: Math.max(from.uploadMemory.part, to.uploadMemory.part),
    },
    // The blob may have moved before a signed URL is used. So the service signs URLs of its own,
    // and finds the blob on each request.
    addresses: null,
    current,
    newest: () => target,
    marker: () => to.marker(),

    prepare: () => to.prepare(),

    async bind(installation, inUse) {
      const route = await routeOf({ from, to, places }, installation)
      if (!route.isDone) {
        // A store that should hold blobs is not created: its name may be wrong.
        if (!inUse) await from.prepare()
        await from.bind(installation, inUse, route.target - 1, true)
      }
      await to.bind(installation, route.isDone && inUse, route.target)
      target = route.target
    },

    async ping() {
      await Promise.all((await stores()).map(store => store.ping()))
    },
    space: async () => storeWith(await current()).space(),

    put: async (key, source, options) =>
      (options.store === undefined ? await storeOf(key) : storeWith(options.store)).put(
        key,
        source,
        options,
      ),
    stagePart: async (key, ...given) => (await storeOf(key)).stagePart(key, ...given),
    partsOf: async key => (await storeOf(key)).partsOf(key),
    commitParts: async (key, ...given) => (await storeOf(key)).commitParts(key, ...given),
    describe: async (key, options) => (await storeOf(key)).describe(key, options),
    endParts: key => inBoth(store => store.endParts(key)),

    async tidy(finished) {
      // While a blob is being copied, the target lists it although it is incomplete.
      const moved = async (keys: string[]) => {
        const all = await finished(keys)
        const numbers = await places.of(all)
        return all.filter(key => (numbers.get(key) ?? 0) >= target)
      }
      await inBoth(store => store.tidy(store === to ? moved : finished))
    },

    async copy(key, copied) {
      const [source, aim] = await Promise.all([storeOf(key), storeOf(copied)])
      if (source === aim) return source.copy(key, copied)
      const bytes = await source.open(key)
      await aim.put(copied, bytes, {
        contentType: 'application/octet-stream',
        admit: async () => {},
      })
    },

    open: (key, options) => find(key, store => store.open(key, options)),
    chunks: (key, options) => find(key, store => store.chunks(key, options)),

    async look(key) {
      for (const store of await stores()) {
        const there = await store.look(key)
        if (there) return there
      }
      return null
    },

    async remove(keys) {
      const kept: BlobsKept[] = []
      await inBoth(store =>
        store.remove(keys).catch(error => {
          if (!(error instanceof BlobsKept)) throw error
          kept.push(error)
        }),
      )
      const [first] = kept
      if (first) throw new BlobsKept([...new Set(kept.flatMap(error => error.keys))], first)
    },

    async *list() {
      yield* merged(...(await stores()).map(listed))
    },
  }
}

async function* listed(store: BlobStore) {
  yield* store.list()
}
