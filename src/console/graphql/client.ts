import type { Client as Events } from 'graphql-sse'
import { Client, fetchExchange, mapExchange, subscriptionExchange } from 'urql'
import { cache } from './cache.ts'
import { codeOf } from './errors.ts'
import { noteFailures } from './failures.ts'
import { person, signInAgain } from './session.ts'

/** Binds requests to this account, because another tab may have signed in to another account. */
const mine: Record<string, string> = person ? { 'X-Account': person } : {}

let events: Promise<Events> | undefined

/** Loads the parser for server-sent events. The first view does not need it. */
function loadEvents(): Promise<Events> {
  events ??= import('graphql-sse').then(({ createClient }) =>
    createClient({
      url: '/graphql',
      headers: mine,
      retryAttempts: Number.POSITIVE_INFINITY,
      // Reconnects soon, however long the service was down, but spreads the clients over time.
      retry: retries =>
        new Promise(go => setTimeout(go, (1 + Math.random()) * 1000 * Math.min(8, 2 ** retries))),
    }),
  )
  return events
}

const loadOffline = () => import('../offline/outage.ts')
/** The first view needs none of this, so it loads later. */
const SETTLED_MS = 1000

/** Stores responses for offline use, and falls back to them when the service is unreachable. */
const offline = mapExchange({
  onResult(result) {
    const { operation, data, error } = result
    if (operation.kind === 'subscription') return
    if (error?.networkError)
      return loadOffline().then(
        ({ missed }) => missed(result, client),
        () => result,
      )
    if (operation.kind === 'query' && data && !error && !operation.context.once)
      setTimeout(() => loadOffline().then(({ answered }) => answered(result)), SETTLED_MS)
  },
})

/** The GraphQL client: talks to the origin of this page as the signed-in person. */
export const client = new Client({
  url: '/graphql',
  preferGetMethod: false,
  fetch: (url, options) => fetch(url, { ...options, headers: { ...options?.headers, ...mine } }),
  exchanges: [
    mapExchange({
      onError(error) {
        if (codeOf(error) === 'UNAUTHENTICATED') signInAgain()
      },
      // The types promise every root field (build/graph-types.ts), and those below `operator`, so
      // an error in one counts for all.
      onResult(result) {
        const { data, error } = result
        const isErased = error?.graphQLErrors.some(({ path = [] }) => {
          const [root = '', field = ''] = path
          return data?.[root] === null || (root === 'operator' && data?.operator?.[field] === null)
        })
        return isErased ? { ...result, data: undefined } : result
      },
    }),
    cache,
    noteFailures,
    offline,
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe(sink) {
          let stop = () => {}
          let isOver = false
          void loadEvents().then(client => {
            if (isOver) return
            stop = client.subscribe(
              { query, variables: variables as Record<string, unknown> },
              {
                next: result => sink.next(result as Parameters<typeof sink.next>[0]),
                error: error => sink.error(error),
                complete: () => sink.complete(),
              },
            )
          })
          return {
            unsubscribe() {
              isOver = true
              stop()
            },
          }
        },
      }),
    }),
  ],
})
