import { createClient as createEventClient } from 'graphql-sse'
import type { TypedDocumentString } from './generated.ts'

/** An error that the service returned. */
export class Refused extends Error {
  /** An error code such as FILE_NOT_FOUND. */
  readonly code: string
  readonly details: Record<string, unknown>

  constructor({ message, extensions: { code, ...details } = {} }: WireError) {
    super(message)
    this.name = 'Refused'
    this.code = String(code)
    this.details = details
  }
}

interface WireError {
  message: string
  extensions?: Record<string, unknown>
}

/** A raw response of the service. */
interface WireAnswer<Result> {
  data?: Result | null
  errors?: readonly WireError[]
}

/**
 * An example of a GraphQL client whose requests and responses are all typed by the schema. It needs
 * only `fetch`, and `graphql-sse` for subscriptions.
 * @param url address of the service, without a trailing slash
 * @param headers the credential: a cookie (browsers send it by themselves) or X-API-Key
 */
export function createClient({ url, headers }: { url: string; headers: Record<string, string> }) {
  const endpoint = `${url}/graphql`
  const events = createEventClient({ url: endpoint, headers, retryAttempts: 0 })

  return {
    /**
     * Sends a query or a mutation. Files in the variables are sent as parts of a form.
     * @throws Refused
     */
    async request<Result, Variables extends object>(
      document: TypedDocumentString<Result, Variables>,
      variables: Variables,
    ): Promise<Result> {
      const files = [...filesIn(variables, 'variables')]
      // A File becomes {} in JSON, but its place must contain null.
      const json = JSON.stringify({ query: String(document), variables }, (_key, value: unknown) =>
        value instanceof Blob ? null : value,
      )
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: {
          ...headers,
          accept: 'application/json',
          ...(files.length > 0 ? {} : { 'content-type': 'application/json' }),
        },
        body: files.length > 0 ? formOf(json, files) : json,
      })
      return resultOf((await response.json()) as WireAnswer<Result>)
    },

    /** Yields future events. Leaving the loop ends the subscription. @throws Refused */
    async *subscribe<Result, Variables extends Record<string, unknown>>(
      document: TypedDocumentString<Result, Variables>,
      variables: Variables,
    ): AsyncGenerator<Result, void> {
      for await (const answer of events.iterate<Result>({ query: String(document), variables }))
        yield resultOf(answer)
    },

    close: () => events.dispose(),
  }
}

function resultOf<Result>({ data, errors }: WireAnswer<Result>): Result {
  const [error] = errors ?? []
  if (error) throw new Refused(error)
  if (data === null || data === undefined)
    throw new TypeError('The response of the service has no data.')
  return data
}

/** The files in a value, with their paths. */
function* filesIn(value: unknown, path: string): Generator<[string, Blob]> {
  if (value instanceof Blob) yield [path, value]
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* filesIn(inner, `${path}.${key}`)
}

/** A form according to graphql-multipart-request-spec. */
function formOf(operations: string, files: [string, Blob][]): FormData {
  const form = new FormData()
  form.append('operations', operations)
  form.append('map', JSON.stringify(Object.fromEntries(files.map(([path], i) => [i, [path]]))))
  for (const [i, [, file]] of files.entries()) form.append(String(i), file)
  return form
}
