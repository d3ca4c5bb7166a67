import { Client, fetchExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import {
  type CachingClient,
  type ClientOptions,
  documentOf,
  introspection,
  watchedOf,
} from './cache.ts'

/** Objects without an id are embedded in their parents. */
const embedded = () => null

export function createUrqlClient({ url, cookie, onAnswer }: ClientOptions): CachingClient {
  const warnings: string[] = []
  let requests = 0
  const client = new Client({
    url: `${url}/graphql`,
    preferGetMethod: false,
    fetchOptions: { headers: { cookie } },
    fetch: async (to, init) => {
      requests++
      const response = await fetch(to, init)
      onAnswer(await response.clone().json())
      return response
    },
    exchanges: [
      cacheExchange({
        schema: introspection,
        keys: { DriveUsage: embedded, Statistics: embedded, Download: embedded },
        // The cache also logs fields that it does not have yet, for debugging.
        logger: (severity, message) => void (severity !== 'debug' && warnings.push(message)),
      }),
      fetchExchange,
    ],
  })
  return {
    watch: (document, variables) =>
      watchedOf(show => {
        const { unsubscribe } = client
          .query(documentOf(document), variables)
          .subscribe(({ data, error, stale }) => {
            if (error) warnings.push(error.message)
            else if (data && !stale) show(data)
          })
        return unsubscribe
      }),
    async mutate(document, variables) {
      const { data, error } = await client.mutation(documentOf(document), variables)
      if (error) throw error
      if (!data) throw new TypeError('The mutation has no data.')
      return data
    },
    stop: () => {},
    requests: () => requests,
    warnings,
  }
}
