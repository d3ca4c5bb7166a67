import type { AnyVariables, TypedDocumentNode } from 'urql'
import { client } from './client.ts'
import { Refused } from './errors.ts'

/**
 * Runs a mutation.
 * @param keepalive sends it even while the page is being left
 * @throws Refused
 */
export async function mutate<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { keepalive = false } = {},
): Promise<Data> {
  const context = keepalive ? { fetchOptions: { keepalive } } : {}
  const { data, error } = await client.mutation(document, variables, context).toPromise()
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
