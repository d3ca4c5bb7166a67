import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** A received request. */
export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind
  event: any
}

/** Responds to a request, by default with 204. */
export type Answer = (res: ServerResponse, request: Received) => void

export interface Receiver {
  url: string
  port: number
  /** All received requests, including refused ones. */
  received: Received[]
  /** The responses to the next requests, in order. Later requests are accepted. */
  next: Answer[]
  /** Closes the port. `again` opens the same port. */
  stop(): Promise<void>
  again(): Promise<void>
}

/**
 * A real HTTP server of a webhook receiver. @param host a loopback address @param port by default a
 * free one
 */
export async function startReceiver(host = '127.0.0.1', port = 0): Promise<Receiver> {
  const make = () =>
    createServer(async (req, res) => {
      let body = ''
      for await (const chunk of req.setEncoding('utf8')) body += chunk
      const request: Received = {
        path: req.url ?? '',
        headers: req.headers,
        body,
        id: String(req.headers['webhook-id']),
        event: JSON.parse(body),
      }
      self.received.push(request)
      const answer = self.next.shift()
      if (answer) answer(res, request)
      else res.writeHead(204).end()
    })
  let server = make()
  const listen = (port: number) => new Promise<void>(up => server.listen(port, host, up))
  const self: Receiver = {
    url: '',
    port: 0,
    received: [],
    next: [],
    async stop() {
      server.closeAllConnections()
      await new Promise(down => server.close(down))
    },
    async again() {
      server = make()
      await listen(self.port)
    },
  }
  await listen(port)
  const address = server.address()
  self.port = typeof address === 'object' && address ? address.port : 0
  self.url = `http://${host}:${self.port}/hook`
  return self
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  res =>
    void res.writeHead(code, headers).end('no')

/**
 * Handles a request like a receiver that follows the specification. @throws Error unless the
 * request was signed with the secret
 */
export const verified = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)
