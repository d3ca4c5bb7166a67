import { readFileSync } from 'node:fs'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { buildSchema, type IntrospectionQuery, introspectionFromSchema, parse } from 'graphql'
import type { TypedDocumentString } from './generated.ts'

/**
 * The part of the schema that clients know in advance: which types are an Entry, a Share or a Node.
 */
export const introspection: IntrospectionQuery = introspectionFromSchema(
  buildSchema(readFileSync(new URL('../../schema/schema.graphql', import.meta.url), 'utf8')),
  { descriptions: false },
)

/** The document for both clients, with the type of its result. */
export const documentOf = <Result>(
  text: TypedDocumentString<Result, never>,
): TypedDocumentNode<Result, Record<string, unknown>> => parse(String(text))

/** A query that is displayed. */
export interface Watched<Result> {
  /** The current result. */
  shown(): Result
  stop(): void
}

/** A client with a normalized cache. */
export interface CachingClient {
  /** Displays a query, and updates it whenever the cache changes. */
  watch<Result, Variables extends Record<string, unknown>>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
  ): Promise<Watched<Result>>
  mutate<Result, Variables extends Record<string, unknown>>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
  ): Promise<Result>
  stop(): void
  /** The number of requests that the client has sent. */
  requests(): number
  /** The warnings of the cache. */
  warnings: string[]
}

export interface ClientOptions {
  url: string
  cookie: string
  /** Called with each result. */
  onAnswer: (data: unknown) => void
}

/** A displayed query, from a stream of results. */
export function watchedOf<Result>(
  subscribe: (show: (result: Result) => void) => () => void,
): Promise<Watched<Result>> {
  const state: { shown?: Result } = {}
  return new Promise(ready => {
    const stop: { now?: () => void } = {}
    const watched = {
      shown: () => state.shown as Result,
      stop: () => stop.now?.(),
    }
    stop.now = subscribe(result => {
      state.shown = result
      ready(watched)
    })
  })
}
