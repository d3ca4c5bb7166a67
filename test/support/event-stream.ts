import { setTimeout as sleep } from 'node:timers/promises'
import { until } from './until.ts'

/** One message of a subscription. */
export interface EventMessage {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  data?: any
  errors?: { message: string; extensions: { code: string } & Record<string, unknown> }[]
}

/** A subscription as seen on the wire. */
export interface EventStream {
  status: number
  headers: Headers
  /** All messages so far. */
  messages: EventMessage[]
  /** The number of keep-alive comments so far. */
  pings(): number
  /** The id of the last event that had one. */
  lastId(): string | undefined
  /** Waits for two more keep-alives, so that all earlier messages have arrived. */
  quiet(): Promise<void>
  /**
   * The next unread message.
   * @throws Error if none arrives in time
   */
  next(): Promise<EventMessage>
  /**
   * Resolves when the service ends the stream: "complete" with a final event, "cut" without one.
   */
  ended: Promise<'complete' | 'cut'>
  /** Disconnects the client. */
  close(): void
}

const PATIENCE = 15_000

/** Opens a subscription, and waits until the response begins. */
export async function openEventStream(
  url: string,
  headers: Record<string, string>,
  body: { query: string; variables?: object },
): Promise<EventStream> {
  const gone = new AbortController()
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify(body),
    signal: gone.signal,
  })
  const messages: EventMessage[] = []
  let [pings, taken, complete, over] = [0, 0, false, false]
  let lastId: string | undefined

  async function read(): Promise<'complete' | 'cut'> {
    let rest = ''
    try {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const parts = (rest + chunk).split('\n\n')
        rest = parts.pop() ?? ''
        for (const part of parts) take(part)
      }
    } catch {
      // The connection was closed.
    }
    over = true
    return complete ? 'complete' : 'cut'
  }

  function take(part: string): void {
    if (part === ':') pings++
    else if (part.startsWith('event: complete\n')) complete = true
    else {
      const [, data = '', id] = /^event: next\ndata: (.*)(?:\nid: (.*))?$/.exec(part) ?? []
      messages.push(JSON.parse(data))
      if (id !== undefined) lastId = id
    }
  }

  const ended = read()
  // The first keep-alive shows that the subscription is open.
  for (let waited = 0; pings === 0 && !over && waited < PATIENCE; waited += 5) await sleep(5)
  return {
    status: response.status,
    headers: response.headers,
    messages,
    pings: () => pings,
    lastId: () => lastId,
    async quiet() {
      const before = pings
      await until(() => over || pings > before + 1, PATIENCE)
    },
    async next() {
      for (let waited = 0; waited < PATIENCE; waited += 10) {
        const message = messages[taken]
        if (message) {
          taken++
          return message
        }
        if (over) break
        await sleep(10)
      }
      throw new Error(`No message arrived. Earlier messages: ${JSON.stringify(messages)}`)
    },
    ended,
    close: () => gone.abort(),
  }
}
