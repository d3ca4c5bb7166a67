import { readFileSync } from 'node:fs'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { buildSchema, type IntrospectionQuery, introspectionFromSchema, parse } from 'graphql'
import type { TypedDocumentString } from './generated.ts'

/** What clients know of the schema before they ask: which types are an Entry, a Share, a Node. */
export const introspection: IntrospectionQuery = introspectionFromSchema(
  buildSchema(readFileSync(new URL('../../schema/schema.graphql', import.meta.url), 'utf8')),
  { descriptions: false },
)

/** The document that both clients want, with the type of its result. */
export const documentOf = <Result>(
  text: TypedDocumentString<Result, never>,
): TypedDocumentNode<Result, Record<string, unknown>> => parse(String(text))

/** A query that is on the screen. */
export interface Watched<Result> {
  /** What it shows now. */
  shown(): Result
  stop(): void
}

/** A client with a normalized cache. */
export interface CachingClient {
  /** Shows a query, and shows it again whenever the cache has something new for it. */
  watch<Result, Variables extends Record<string, unknown>>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
  ): Promise<Watched<Result>>
  mutate<Result, Variables extends Record<string, unknown>>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
  ): Promise<Result>
  stop(): void
  /** How many requests it has sent. */
  requests(): number
  /** What the cache complains of. */
  warnings: string[]
}

export interface ClientOptions {
  url: string
  cookie: string
  /** Is told each answer. */
  onAnswer: (data: unknown) => void
}

/** A query on the screen, as it is shown by a stream of results. */
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
