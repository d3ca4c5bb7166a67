import { connect, type Socket } from 'node:net'
import { checkAnswer, requestOf } from '../contract/answers.ts'
import type { Person, TestApp } from './harness.ts'
import { until } from './until.ts'

/** A response as received from the socket. */
export interface WireAnswer {
  status: number
  headers: Record<string, string>
  text: string
  /** The error code of the envelope. Empty without an envelope. */
  msg: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  response: any
}

/** A connection on which the test chooses every byte. */
export interface Wire {
  socket: Socket
  /** Resolves when the bytes have been sent, or cannot be sent any more. */
  send(bytes: string | Uint8Array): Promise<void>
  /** The next response. Undefined if the connection ends without one. */
  answer(): Promise<WireAnswer | undefined>
  /** Resolves when the connection has ended. */
  ended: Promise<void>
  /** Resets the connection. */
  cut(): void
}

/**
 * Opens a connection to a service. @param localAddress the source: another address of 127.0.0.0/8
 * counts as another client
 */
export function openWire(url: string, localAddress?: string): Promise<Wire> {
  const { hostname, port } = new URL(url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    ...(localAddress ? { localAddress } : {}),
  })
  let buffer = Buffer.alloc(0)
  let ended = false
  let wake = () => {}
  // A closed connection counts as a response.
  socket.on('error', () => {})
  socket.on('data', chunk => {
    buffer = Buffer.concat([buffer, chunk])
    wake()
  })
  const end = new Promise<void>(resolve => {
    socket.once('close', () => {
      ended = true
      wake()
      resolve()
    })
  })
  const wire: Wire = {
    socket,
    send: bytes =>
      new Promise(resolve => {
        if (socket.destroyed) return resolve()
        const done = () => {
          socket.off('close', done)
          resolve()
        }
        socket.once('close', done)
        socket.write(bytes, done)
      }),
    async answer() {
      for (;;) {
        const taken = takeAnswer(buffer)
        if (taken) {
          buffer = buffer.subarray(taken.length)
          return taken.answer
        }
        if (ended) return undefined
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
    ended: end,
    cut: () => socket.resetAndDestroy(),
  }
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(wire))
    socket.once('error', reject)
  })
}

/** Sends one raw request, and returns its response. */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
): Promise<WireAnswer | undefined> {
  const wire = await openWire(url)
  // Not awaited, because a service may respond and stop reading in the middle of the request.
  void wire.send(bytes)
  const answer = await wire.answer()
  wire.socket.destroy()
  return answer
}

/** The first complete response in some bytes. Undefined while it is incomplete. */
function takeAnswer(bytes: Buffer): { answer: WireAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(first.split(' ')[1])
  const headers = Object.fromEntries(
    lines.map(line => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const start = headEnd + 4
  const rest = bytes.subarray(start)
  const body = headers['transfer-encoding']
    ? takeChunks(rest)
    : takeLength(rest, Number(headers['content-length'] ?? 0))
  if (!body) return undefined
  const isJson = headers['content-type']?.startsWith('application/json')
  const value = isJson && body.text ? JSON.parse(body.text) : undefined
  const request = requestOf(headers['x-request-id'] ?? '')
  if (request)
    checkAnswer({
      ...request,
      status,
      contentType: headers['content-type'],
      text: body.text,
      value,
    })
  const { msg = '', response } = value ?? {}
  return {
    answer: { status, headers, text: body.text, msg, response },
    length: start + body.length,
  }
}

function takeLength(bytes: Buffer, length: number): { text: string; length: number } | undefined {
  return bytes.length < length ? undefined : { text: bytes.toString('utf8', 0, length), length }
}

function takeChunks(bytes: Buffer): { text: string; length: number } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    at = lineEnd + 2
    if (bytes.length < at + size + 2) return undefined
    parts.push(bytes.subarray(at, at + size))
    at += size + 2
    if (size === 0) return { text: Buffer.concat(parts).toString(), length: at }
  }
}

/** The head of a person's request, including the empty line. */
export function head(
  person: Person,
  request: string,
  headers: Record<string, string | number> = {},
): string {
  const all = { host: 'localhost', cookie: person.cookie, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${request} HTTP/1.1\r\n${lines.join('')}\r\n`
}

export const BOUNDARY = 'the-boundary'
export const formType = `multipart/form-data; boundary=${BOUNDARY}`

/** A part of a form with these headers. */
export interface Part {
  headers: string[]
  body?: string | Uint8Array
}

export const field = (name: string, body: string | Uint8Array): Part => ({
  headers: [`Content-Disposition: form-data; name="${name}"`],
  body,
})

export const file = (
  filename: string,
  body: string | Uint8Array = 'bytes',
  name = 'file',
): Part => ({
  headers: [
    `Content-Disposition: form-data; name="${name}"; filename="${filename}"`,
    'Content-Type: application/octet-stream',
  ],
  body,
})

/** The bytes of a form. `end` follows its last part. */
export function form(parts: Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ headers, body = '' }) => [
    `--${BOUNDARY}\r\n${headers.map(line => `${line}\r\n`).join('')}\r\n`,
    body,
    '\r\n',
  ])
  return Buffer.concat([...pieces, end].map(piece => Buffer.from(piece)))
}

/** Sends bytes as the form of a route. */
export function sendForm(
  t: TestApp,
  person: Person,
  body: Uint8Array,
  {
    path = '/api/files/upload',
    headers = {},
  }: { path?: string; headers?: Record<string, string> } = {},
): Promise<WireAnswer | undefined> {
  const start = head(person, `POST ${path}`, {
    'content-type': formType,
    accept: 'application/json',
    'content-length': body.length,
    ...headers,
  })
  return exchange(t.url, Buffer.concat([Buffer.from(start), body]))
}

const tables =
  'user bucket entry blobs upload_session share note outbox workspace member invite api_key'.split(
    ' ',
  )

/** All rows and objects of the service once all requests are done. */
export async function everything(t: TestApp): Promise<Record<string, unknown[]>> {
  await quiet(t)
  await t.settle()
  const rows = await Promise.all(
    tables.map(table =>
      t.app.db.rows<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2`),
    ),
  )
  // A refused change may have marked its drive as changed, which costs clients one listing.
  for (const row of rows.flat()) delete row.change_stamp
  const objects: string[] = []
  for await (const { key, size } of t.app.store.list()) objects.push(`${key} ${size}`)
  return { ...Object.fromEntries(tables.map((table, i) => [table, rows[i] ?? []])), objects }
}

/**
 * Waits until no request is running, and no upload holds a reservation except multipart uploads,
 * which wait for their owners.
 */
async function quiet(t: TestApp): Promise<void> {
  await until(async () => {
    const staged = await t.app.db.rows(
      "SELECT id FROM blobs WHERE state = 'staged' AND id NOT IN (SELECT id FROM upload_session)",
    )
    return t.app.gateway.running === 0 && staged.length === 0
  })
}
