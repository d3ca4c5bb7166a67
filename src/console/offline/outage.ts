import {
  type Client,
  createRequest,
  makeOperation,
  type Operation,
  type OperationResult,
  stringifyDocument,
} from 'urql'
import { sharedValue } from '../parts/shared-value.ts'
import { findRead, keepRead } from './read.ts'

/** State while the service is unreachable. */
interface Outage {
  /** When the oldest data on the screen was read. */
  readAt: number
  /** The screen for which the data was read. */
  path: string
}

export const outage = sharedValue<Outage | null>(null)

/** Queries to repeat when the service is back. */
const missing = new Map<number, () => void>()

function tell(readAt: number): void {
  const path = location.pathname
  const now = outage.get()
  outage.set({ path, readAt: now?.path === path ? Math.min(now.readAt, readAt) : readAt })
}

/** Stores the response for offline use. */
export function answered(result: OperationResult): void {
  if (outage.get()) reachedAgain()
  // If the browser blocks storage, there is no offline copy.
  void keepRead(result).catch(() => {})
}

/**
 * The cached result of an operation, in the form of a response. It has its own key: with the key of
 * the operation, screens would treat it as the response. Parsing the document from text keeps every
 * `__typename`, because the cache drops those that urql adds.
 */
function knownOf(
  client: Client,
  { query, variables, key }: Operation,
): OperationResult | undefined {
  let known: OperationResult | undefined
  const request = createRequest(stringifyDocument(query), variables)
  const reading = client.executeQuery({ ...request, key: -key }, { requestPolicy: 'cache-only' })
  reading
    .subscribe(result => {
      known = result
    })
    .unsubscribe()
  return known
}

/** Returns the stored result when the service was unreachable. */
export async function missed(result: OperationResult, client: Client): Promise<OperationResult> {
  const { operation } = result
  // A request that the server rejects while it is being sent, such as an upload part, fails in the
  // same way as one without a network.
  if (operation.kind === 'mutation' && (await isReached())) return result
  const read = await findRead(result).catch(() => null)
  tell(read?.at ?? Date.now())
  if (operation.kind !== 'query' || operation.context.once) return result
  missing.set(operation.key, () => {
    const context = { ...operation.context, requestPolicy: 'network-only' as const }
    client.reexecuteOperation(makeOperation('query', operation, context))
  })
  // The cache of this tab includes its own changes, so it is newer than the stored response.
  const known = knownOf(client, operation)
  const data = known?.operation.context.meta?.cacheOutcome === 'hit' ? known.data : read?.data
  return data ? { ...result, data, error: undefined } : result
}

function reachedAgain(): void {
  outage.set(null)
  const asked = [...missing.values()]
  missing.clear()
  for (const ask of asked) ask()
}

const PATIENCE_MS = 3000

async function isReached(): Promise<boolean> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const answer = await fetch('/healthz', { cache: 'no-store', signal }).catch(() => null)
  return answer?.ok ?? false
}

/** Checks whether the service is back, then refetches the data on the screen. */
export async function lookAgain(): Promise<void> {
  if ((await isReached()) && outage.get()) reachedAgain()
}
