import type { OperationResult } from 'urql'
import { isLeaving, person } from '../graphql/session.ts'

const PREFIX = 'read-'
/** Number of stored responses; the most recently read are kept. */
const KEPT = 300
/** Old responses are deleted after this many new ones. */
const TIDIED_AFTER = 30

interface Read {
  query: string
  variables: string
  at: number
  data: unknown
}

const name = PREFIX + person

const hasStore = () => person !== undefined && 'caches' in window

const askedBy = ({ operation: { query, variables } }: OperationResult) => ({
  query: query.loc?.source.body ?? '',
  variables: JSON.stringify(variables),
})

const addressOf = ({ operation }: OperationResult) => `/read/${operation.key}`

/** Matches signed URLs and secrets in any query. These must never be stored. */
const passing = /"(download|secret)":[^n]/

let puts = 0

/** Stores a response in this browser for offline use. */
export async function keepRead(result: OperationResult): Promise<void> {
  if (!hasStore() || isLeaving() || passing.test(JSON.stringify(result.data))) return
  const cache = await caches.open(name)
  const read: Read = { ...askedBy(result), at: Date.now(), data: result.data }
  await cache.put(addressOf(result), new Response(JSON.stringify(read)))
  // The session has ended and its data is already deleted.
  if (isLeaving()) return void (await caches.delete(name))
  if (puts++ % TIDIED_AFTER) return
  // Deletes the data of another person.
  for (const other of await caches.keys())
    if (other.startsWith(PREFIX) && other !== name) await caches.delete(other)
  for (const old of (await cache.keys()).slice(0, -KEPT)) await cache.delete(old)
}

/** Returns the last stored response, or null. */
export async function findRead(result: OperationResult): Promise<Read | null> {
  if (!hasStore()) return null
  // `caches.open` would create the cache, even just after it was deleted. `caches.match` does not.
  const found = await caches.match(addressOf(result), { cacheName: name })
  if (!found) return null
  const read = (await found.json()) as Read
  const { query, variables } = askedBy(result)
  // Different queries may have the same hash.
  return read.query === query && read.variables === variables ? read : null
}
