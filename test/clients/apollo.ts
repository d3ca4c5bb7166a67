import { ApolloClient, ApolloLink, InMemoryCache, Observable } from '@apollo/client'
import { print } from 'graphql'
import { createClient } from '../client/client.ts'
import { TypedDocumentString as AnyDocument } from '../client/generated.ts'
import {
  type CachingClient,
  type ClientOptions,
  documentOf,
  introspection,
  watchedOf,
} from './cache.ts'
import type { TypedDocumentString } from './generated.ts'

/** Interfaces and unions, with their types. */
const possibleTypes = Object.fromEntries(
  introspection.__schema.types.flatMap(type =>
    type.kind === 'INTERFACE' || type.kind === 'UNION'
      ? [[type.name, type.possibleTypes.map(({ name }) => name)]]
      : [],
  ),
)

export function createApolloClient({ url, cookie, onAnswer }: ClientOptions): CachingClient {
  const warnings: string[] = []
  let requests = 0
  // Apollo's own link cannot upload files, so this link sends requests like test/client.
  const wire = createClient({ url, headers: { cookie } })
  const send = async (query: string, variables: object) => {
    requests++
    const data = await wire.request(
      new AnyDocument<Record<string, unknown>, object>(query),
      variables,
    )
    onAnswer(data)
    return data
  }
  const client = new ApolloClient({
    cache: new InMemoryCache({ possibleTypes }),
    link: new ApolloLink(
      ({ query, variables }) =>
        new Observable(observer => {
          send(print(query), variables).then(
            data => {
              observer.next({ data })
              observer.complete()
            },
            error => observer.error(error),
          )
        }),
    ),
  })
  return {
    watch: <Result, Variables extends Record<string, unknown>>(
      document: TypedDocumentString<Result, Variables>,
      variables: Variables,
    ) =>
      watchedOf<Result>(show => {
        const subscription = client
          .watchQuery<Result>({ query: documentOf<Result>(document), variables })
          .subscribe(({ data, error, dataState }) => {
            if (error) warnings.push(error.message)
            else if (dataState === 'complete') show(data as Result)
          })
        return () => subscription.unsubscribe()
      }),
    async mutate<Result, Variables extends Record<string, unknown>>(
      document: TypedDocumentString<Result, Variables>,
      variables: Variables,
    ) {
      const { data } = await client.mutate({ mutation: documentOf<Result>(document), variables })
      if (!data) throw new TypeError('The mutation has no data.')
      return data as Result
    },
    stop() {
      client.stop()
      wire.close()
    },
    requests: () => requests,
    warnings,
  }
}
