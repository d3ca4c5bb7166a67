import { persist, type Repeatable } from '../upload-engine/retry.ts'
import { linkSignal } from '../upload-engine/signal.ts'
import type { Credential, Login } from './credentials.ts'
import { Failure } from './failure.ts'
import type { TypedDocumentString } from './generated.ts'
import type { Patience } from './patience.ts'
import { type Call, piecesOf, readJson, retryAfterOf, send, toUnreachable } from './wire.ts'

/** Timeout of a silent subscription. The service sends a comment every few seconds. */
const SILENCE_MS = 60_000

export interface RestCall extends Omit<Call, 'headers' | 'signal'> {
  headers?: Record<string, string>
  /** Sent as JSON. */
  json?: object
  signal?: AbortSignal
}

/**
 * The API client for one credential. It throws refusals as a Failure with the message of the
 * service.
 */
export interface Client {
  url: string
  patience: Patience
  /** @param call retries default to on for a query and off for a mutation */
  request<Result, Variables extends object>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    call?: Repeatable,
  ): Promise<Result>
  /**
   * Sends a mutation and resolves to its payload.
   *
   * @param call retries default to off
   */
  change<Result extends object, Variables extends { input: object }>(
    document: TypedDocumentString<Result, Variables>,
    input: Variables['input'],
    call?: Repeatable,
  ): Promise<NonNullable<Result[keyof Result]>>
  /**
   * Sends a mutation with a file, without retries.
   *
   * @param call contains the document in its form body
   */
  form<Result>(
    document: TypedDocumentString<Result, never>,
    call: Omit<RestCall, 'json'>,
  ): Promise<Result>
  /**
   * Subscribes and calls `happened` with each message, until the service closes the stream or the
   * signal aborts.
   *
   * @throws UNREACHABLE also after a long silence
   */
  subscribe<Variables extends object>(
    document: TypedDocumentString<unknown, Variables>,
    variables: Variables,
    happened: () => void,
    signal: AbortSignal,
  ): Promise<void>
  /** One REST request, without retries. Resolves to its `response`. */
  rest<Result>(path: string, call?: RestCall): Promise<Result>
}

/** The service with the credentials of the signed-in user. */
export interface Service {
  url: string
  patience: Patience
  /** The caller's own files. */
  personal: Client
  /** Client for operations that keys may not use. */
  session: Client
  /** Client for a workspace, given its id. */
  workspace(id: string): Client
  /** Client without a credential. */
  anonymous: Client
  login: Login
}

export function connect(login: Login, patience: Patience): Service {
  const client = (credential: Credential | undefined) => clientOf(login.url, credential, patience)
  return {
    url: login.url,
    patience,
    login,
    personal: client(login.personal),
    session: client(login.session),
    anonymous: clientOf(login.url, null, patience),
    workspace: id => client(login.workspaces.find(w => w.id === id)?.credential ?? login.session),
  }
}

/**
 * @param credential null for anonymous requests; undefined makes the first request throw
 * NOT_SIGNED_IN
 */
export function clientOf(
  url: string,
  credential: Credential | null | undefined,
  patience: Patience,
): Client {
  function headers(): Record<string, string> {
    if (credential === undefined)
      throw new Failure(
        'NOT_SIGNED_IN',
        `You are not signed in at ${url}. Run satchel login ${url}, or set SATCHEL_KEY.`,
      )
    if (credential === null) return {}
    return credential.kind === 'key'
      ? { 'x-api-key': credential.secret }
      : { cookie: `session_id=${credential.secret}` }
  }

  return {
    url,
    patience,

    request(document, variables, call) {
      const query = String(document)
      const isQuery = /^\s*query\b/.test(query)
      const { signal } = patience
      const work = async () => {
        const response = await send(`${url}/graphql`, {
          method: 'POST',
          headers: { ...headers(), accept: 'application/json', 'content-type': 'application/json' },
          body: JSON.stringify({ query, variables }),
          signal,
        })
        return dataOf<ResultOf<typeof document>>(await readJson(response, url, signal), isQuery)
      }
      return persist(work, call ?? (isQuery ? 'repeatable' : 'once'), patience)
    },

    async change<Result extends object, Variables extends { input: object }>(
      document: TypedDocumentString<Result, Variables>,
      input: Variables['input'],
      call?: Repeatable,
    ) {
      const result = await this.request(document, { input } as Variables, call)
      const [payload] = Object.values(result) as Result[keyof Result][]
      if (!payload) throw new Failure('BAD_ANSWER', 'The response of the service has no data.')
      return payload
    },

    async form<Result>(
      document: TypedDocumentString<Result, never>,
      { signal = patience.signal, ...call }: Omit<RestCall, 'json'>,
    ) {
      const response = await send(`${url}/graphql`, {
        ...call,
        method: 'POST',
        headers: { ...headers(), accept: 'application/json', ...call.headers },
        signal,
      })
      return dataOf<ResultOf<typeof document>>(await readJson(response, url, signal), false)
    },

    async subscribe(document, variables, happened, signal) {
      const { host } = new URL(url)
      const own = linkSignal(signal)
      const silent = () =>
        own.end(new Failure('UNREACHABLE', `${host} has been silent for too long.`, { sent: true }))
      let timer = setTimeout(silent, SILENCE_MS)
      try {
        const response = await send(`${url}/graphql`, {
          method: 'POST',
          headers: {
            ...headers(),
            accept: 'text/event-stream',
            'content-type': 'application/json',
          },
          body: JSON.stringify({ query: String(document), variables }),
          signal: own.signal,
        })
        if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
          return void dataOf(await readJson(response, url, own.signal), true)
        const decoder = new TextDecoder()
        let rest = ''
        for await (const piece of piecesOf(response, url, own.signal)) {
          clearTimeout(timer)
          timer = setTimeout(silent, SILENCE_MS)
          const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
          rest = lines.pop() ?? ''
          for (const line of lines) {
            const data = /^data: ?(\{.*)$/.exec(line)?.[1]
            if (data === undefined) continue
            dataOf(JSON.parse(data), true)
            happened()
          }
        }
      } catch (error) {
        throw toUnreachable(error, url, own.signal)
      } finally {
        clearTimeout(timer)
        own.release()
      }
    },

    async rest<Result>(path: string, { json, signal = patience.signal, ...call }: RestCall = {}) {
      const response = await send(url + path, {
        ...call,
        headers: {
          ...headers(),
          ...call.headers,
          ...(json ? { 'content-type': 'application/json' } : {}),
        },
        ...(json ? { body: JSON.stringify(json) } : {}),
        signal,
      })
      const answer = await readJson(response, url, signal)
      if (response.ok && 'response' in answer) return answer.response as Result
      throw refusalOf(answer, response)
    },
  }
}

type ResultOf<Document> =
  Document extends TypedDocumentString<infer Result, infer _> ? Result : never

/**
 * The data of a GraphQL response. A mutation with a payload has succeeded: fields that the caller
 * may not read are null.
 *
 * @throws the code of its first error, or BAD_ANSWER
 */
function dataOf<Result>(answer: object, isQuery: boolean): Result {
  const { data, errors } = answer as { data?: Result | null; errors?: WireError[] }
  const error = errors?.[0]
  const isDone = !isQuery && Object.values(data ?? {}).some(payload => payload !== null)
  if (error && !isDone) {
    const { code = 'BAD_ANSWER', ...details } = error.extensions ?? {}
    throw new Failure(String(code), error.message, details)
  }
  if (data === null || data === undefined)
    throw new Failure('BAD_ANSWER', 'The response of the service has no data.')
  return data
}

interface WireError {
  message: string
  extensions?: Record<string, unknown>
}

function refusalOf(answer: object, { status, headers }: Response): Failure {
  const { msg, response } = answer as { msg?: unknown; response?: Record<string, unknown> | null }
  const { code, ...details } = response ?? {}
  return typeof code === 'string'
    ? new Failure(code, String(msg), { ...retryAfterOf(headers), ...details })
    : new Failure(
        'BAD_ANSWER',
        `The service answered ${status} with a body that is not from Satchel.`,
      )
}
