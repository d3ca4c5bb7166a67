import type { AnyVariables, TypedDocumentNode } from 'urql'
import { client } from './client.ts'
import { codeOf, Refused } from './errors.ts'
import { refusals } from './refusals.ts'

/** Browsers limit all pending `keepalive` bodies of a page to 64 KiB in total. */
const MAX_KEPT_ALIVE = 16 * 1024

/**
 * Runs a mutation.
 *
 * @param keepalive completes the request even if the page is left, unless it is large
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
  if (codeOf(error) === 'PROOF_NEEDED') {
    // The page of the service leads back here. The person then repeats the action.
    const here = location.pathname + location.search
    location.assign(`/account/confirm?${new URLSearchParams({ return_to: here })}`)
  }
  if (error) throw new Refused(error)
  return data as Data
}

/**
 * Runs a query once, without the cache and without the offline copy.
 *
 * @throws Refused
 */
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
