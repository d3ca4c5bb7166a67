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

/** The service is not reached. */
interface Outage {
  /** When the oldest of what is shown was read. */
  readAt: number
  /** The screen that it was read for. */
  path: string
}

export const outage = sharedValue<Outage | null>(null)

/** What to ask for when the service is back. */
const missing = new Map<number, () => void>()

function tell(readAt: number): void {
  const path = location.pathname
  const now = outage.get()
  outage.set({ path, readAt: now?.path === path ? Math.min(now.readAt, readAt) : readAt })
}

/** Keeps what the service has answered. */
export function answered(result: OperationResult): void {
  if (outage.get()) reachedAgain()
  // Where the browser stores nothing, nothing can be read without the service.
  void keepRead(result).catch(() => {})
}

/**
 * What the cache knows, as the service would answer it. Under a key of its own: under that of the
 * operation, screens would take it for the answer. As text the document asks for every
 * `__typename`: those that urql adds, the cache leaves out of what it answers.
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

/** The service was not reached: what is known of the answer. */
export async function missed(result: OperationResult, client: Client): Promise<OperationResult> {
  const { operation } = result
  // What is refused while it is sent, such as a part of an upload, breaks off as it does without a
  // network.
  if (operation.kind === 'mutation' && (await isReached())) return result
  const read = await findRead(result).catch(() => null)
  tell(read?.at ?? Date.now())
  if (operation.kind !== 'query' || operation.context.once) return result
  missing.set(operation.key, () => {
    const context = { ...operation.context, requestPolicy: 'network-only' as const }
    client.reexecuteOperation(makeOperation('query', operation, context))
  })
  // What this tab knows is newer than what was kept: it has followed its own changes.
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

/** Looks whether the service is back, and then reads again what is on the screen. */
export async function lookAgain(): Promise<void> {
  if ((await isReached()) && outage.get()) reachedAgain()
}
