import type { AnyVariables, TypedDocumentNode } from 'urql'
import { client } from './client.ts'
import { codeOf, Refused } from './errors.ts'
import { refusals } from './refusals.ts'

/** Browsers refuse more than 64 KiB that outlives its page, in all requests under way together. */
const MAX_KEPT_ALIVE = 16 * 1024

/**
 * Runs a mutation.
 * @param keepalive sends it even while the page is being left, unless it is large
 * @throws Refused
 */
export async function mutate<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { keepalive = false } = {},
): Promise<Data> {
  const isSmall = () => new Blob([JSON.stringify(variables)]).size <= MAX_KEPT_ALIVE
  const context = keepalive && isSmall() ? { fetchOptions: { keepalive } } : {}
  const { data, error } = await client.mutation(document, variables, context).toPromise()
  if (codeOf(error) === 'MAINTENANCE') refusals.set(refusals.get() + 1)
  if (error) throw new Refused(error)
  return data as Data
}

/** Asks once, past the cache and past what was kept for an outage. @throws Refused */
export async function ask<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { data, error } = await client
    .query(document, variables, { requestPolicy: 'network-only', once: true })
    .toPromise()
  if (error) throw new Refused(error)
  return data as Data
}
