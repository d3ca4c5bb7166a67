import type { OperationResult } from 'urql'
import { isLeaving, person } from '../graphql/session.ts'

const PREFIX = 'read-'
/** So many answers are kept: those that were read last. */
const KEPT = 300
/** So many answers later, those that are too many go. */
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

/** Signed addresses and secrets, however they were asked for: for the memory of the page only. */
const passing = /"(download|secret)":[^n]/

let puts = 0

/** Keeps an answer in this browser, for when the service is not reached. */
export async function keepRead(result: OperationResult): Promise<void> {
  if (!hasStore() || isLeaving() || passing.test(JSON.stringify(result.data))) return
  const cache = await caches.open(name)
  const read: Read = { ...askedBy(result), at: Date.now(), data: result.data }
  await cache.put(addressOf(result), new Response(JSON.stringify(read)))
  // The session has ended meanwhile, and what it left here is gone already.
  if (isLeaving()) return void (await caches.delete(name))
  if (puts++ % TIDIED_AFTER) return
  // What another person has left here is none of this one's.
  for (const other of await caches.keys())
    if (other.startsWith(PREFIX) && other !== name) await caches.delete(other)
  for (const old of (await cache.keys()).slice(0, -KEPT)) await cache.delete(old)
}

/** What was answered last time; null when nothing was. */
export async function findRead(result: OperationResult): Promise<Read | null> {
  if (!hasStore()) return null
  // To open the cache would make it, also where it has just been taken away.
  const found = await caches.match(addressOf(result), { cacheName: name })
  if (!found) return null
  const read = (await found.json()) as Read
  const { query, variables } = askedBy(result)
  // Different questions may have the same key.
  return read.query === query && read.variables === variables ? read : null
}
