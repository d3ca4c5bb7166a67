import { SMTPServer, type SMTPServerAddress, type SMTPServerAuthentication } from 'smtp-server'

/** A received mail. */
export interface ReceivedMail {
  /** The envelope. */
  from: string
  to: string[]
  /** Names in lower case, in order. Values are unfolded, and encoded words are decoded. */
  headers: [string, string][]
  header(name: string): string | undefined
  text: string
  html: string
  raw: string
}

/** The behaviour of the server. Every member may be replaced while the server runs. */
export interface Manners {
  onMailFrom(from: string): Promise<void>
  onRcptTo(to: string): Promise<void>
  /**
   * Called when the whole text has arrived. If it throws, the mail is refused and not recorded as
   * received.
   */
  onData(mail: ReceivedMail): Promise<void>
  onAuth(user: string, password: string): boolean
}

export interface MailServer {
  url: string
  port: number
  received: ReceivedMail[]
  /** The number of mails that were begun. */
  begun: number
  manners: Manners
  /** Closes the port. `again` opens the same port. */
  stop(): Promise<void>
  again(): Promise<void>
}

/** Thrown for an SMTP reply other than 250. */
export const refusal = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode })

/** A real SMTP server on loopback. */
export async function startMailServer(options: { login?: true } = {}): Promise<MailServer> {
  const make = () => {
    const server = new SMTPServer({
      authOptional: !options.login,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS', ...(options.login ? [] : ['AUTH'])],
      closeTimeout: 1,
      logger: false,
      onAuth: ({ username, password }: SMTPServerAuthentication, _session, done) =>
        self.manners.onAuth(username ?? '', password ?? '')
          ? done(null, { user: username })
          : done(refusal(535, 'Wrong password')),
      onMailFrom: ({ address }: SMTPServerAddress, _session, done) => {
        self.begun++
        self.manners.onMailFrom(address).then(() => done(), done)
      },
      onRcptTo: ({ address }: SMTPServerAddress, _session, done) =>
        void self.manners.onRcptTo(address).then(() => done(), done),
      onData(stream, { envelope }, done) {
        const chunks: Buffer[] = []
        stream.on('data', chunk => chunks.push(chunk))
        stream.on('end', () => {
          const { mailFrom, rcptTo } = envelope
          const mail = parseMail(Buffer.concat(chunks).toString())
          Object.assign(mail, {
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map(r => r.address),
          })
          self.manners.onData(mail).then(() => {
            self.received.push(mail)
            done()
          }, done)
        })
      },
    })
    // Tests may disconnect clients, so errors of the connection are ignored.
    server.on('error', () => {})
    return server
  }
  let server = make()
  const listen = (port: number) => new Promise<void>(up => server.listen(port, '127.0.0.1', up))
  const self: MailServer = {
    url: '',
    port: 0,
    received: [],
    begun: 0,
    manners: polite(),
    stop: () => new Promise(down => server.close(() => down())),
    async again() {
      server = make()
      await listen(self.port)
    },
  }
  await listen(0)
  const address = server.server.address()
  self.port = typeof address === 'object' && address ? address.port : 0
  self.url = `smtp://127.0.0.1:${self.port}`
  return self
}

/** Accepts every mail immediately. */
export const polite = (): Manners => ({
  onMailFrom: async () => {},
  onRcptTo: async () => {},
  onData: async () => {},
  onAuth: () => true,
})

/** Parses a mail with one text and one HTML part. */
export function parseMail(raw: string): ReceivedMail {
  const { headers, body } = parseEntity(raw)
  const header = (name: string) => headers.find(([known]) => known === name)?.[1]
  const boundary = /boundary="([^"]+)"/.exec(header('content-type') ?? '')?.[1] ?? ''
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map(part => parseEntity(part.replace(/^\r?\n/, '')))
  const partOf = (type: string) => {
    const part = parts.find(p =>
      p.headers.some(([name, value]) => name === 'content-type' && value.startsWith(type)),
    )
    const encoding = part?.headers.find(([name]) => name === 'content-transfer-encoding')?.[1]
    return part
      ? decode(part.body, encoding ?? '7bit')
          .replaceAll('\r\n', '\n')
          .replace(/\n$/, '')
      : ''
  }
  return {
    from: '',
    to: [],
    headers,
    header,
    text: partOf('text/plain'),
    html: partOf('text/html'),
    raw,
  }
}

function parseEntity(raw: string): { headers: [string, string][]; body: string } {
  const end = /\r?\n\r?\n/.exec(raw)
  const head = end ? raw.slice(0, end.index) : raw
  const headers = head
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())]
    })
  return { headers, body: end ? raw.slice(end.index + end[0].length) : '' }
}

/** RFC 2047. */
function decodeWords(value: string): string {
  const word = /=\?utf-8\?([bq])\?([^?]*)\?=/gi
  const bytesOf = (kind: string, text: string) =>
    kind.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : quoted(text.replaceAll('_', ' '))
  // A character may be split between two words, so adjacent words are decoded together.
  return value.replace(/=\?utf-8\?[bq]\?[^?]*\?=(?:\s+=\?utf-8\?[bq]\?[^?]*\?=)*/gi, run =>
    Buffer.concat(
      [...run.matchAll(word)].map(([, kind = '', text = '']) => bytesOf(kind, text)),
    ).toString(),
  )
}

const quoted = (text: string): Buffer =>
  Buffer.from(
    text
      .replace(/=\r?\n/g, '')
      .replace(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

function decode(body: string, encoding: string): string {
  if (/base64/i.test(encoding)) return Buffer.from(body, 'base64').toString()
  return /quoted/i.test(encoding) ? quoted(body).toString() : body
}
