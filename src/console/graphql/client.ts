import type { Client as Events } from 'graphql-sse'
import { Client, fetchExchange, mapExchange, subscriptionExchange } from 'urql'
import { cache } from './cache.ts'
import { codeOf } from './errors.ts'
import { person, signInAgain } from './session.ts'

/** For no other account: one may have signed in in another tab. */
const mine: Record<string, string> = person ? { 'X-Account': person } : {}

let events: Promise<Events> | undefined

/** Server-sent events. The first view does not need what reads them. */
function loadEvents(): Promise<Events> {
  events ??= import('graphql-sse').then(({ createClient }) =>
    createClient({
      url: '/graphql',
      headers: mine,
      retryAttempts: Number.POSITIVE_INFINITY,
      // However long the service was away, it is found again soon; not by everyone at once.
      retry: retries =>
        new Promise(go => setTimeout(go, (1 + Math.random()) * 1000 * Math.min(8, 2 ** retries))),
    }),
  )
  return events
}

const loadOffline = () => import('../offline/outage.ts')
/** The first view needs none of it. */
const SETTLED_MS = 1000

/** Keeps what was read, and shows it when the service is not reached. */
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

/** Talks to the service that this page came from, as the person who is signed in. */
export const client = new Client({
  url: '/graphql',
  preferGetMethod: false,
  fetch: (url, options) => fetch(url, { ...options, headers: { ...options?.headers, ...mine } }),
  exchanges: [
    mapExchange({
      onError(error) {
        if (codeOf(error) === 'UNAUTHENTICATED') signInAgain()
      },
    }),
    cache,
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
