import { inParts } from '../../db/queries/sql.ts'

/** The maximum number of keys per lookup. */
const MOST = 64

/**
 * Batches all keys of one event loop turn into one lookup. The lookup starts after its last
 * request, so no request gets an outdated result. A credential that was revoked before the request
 * arrived is refused.
 * @param find returns the found entries only
 */
export function oneLookup<T>(
  find: (keys: string[]) => Promise<ReadonlyMap<string, T>>,
): (key: string) => Promise<T | null> {
  let asked = new Map<string, PromiseWithResolvers<T | null>>()

  async function look(some: [key: string, PromiseWithResolvers<T | null>][]): Promise<void> {
    try {
      const found = await find(some.map(([key]) => key))
      for (const [key, { resolve }] of some) resolve(found.get(key) ?? null)
    } catch (error) {
      for (const [, { reject }] of some) reject(error)
    }
  }

  function lookAll(): void {
    const all = [...asked]
    asked = new Map()
    for (const some of inParts(all, MOST)) void look(some)
  }

  return key => {
    const same = asked.get(key)
    if (same) return same.promise
    if (asked.size === 0) setImmediate(lookAll)
    const answer = Promise.withResolvers<T | null>()
    asked.set(key, answer)
    return answer.promise
  }
}
