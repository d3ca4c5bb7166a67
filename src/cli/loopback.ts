import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The result from the browser: a code, or an error. */
export interface Brought {
  code: string | null
  error: string | null
  description: string | null
  /** Shows the result in the browser window. */
  show(heading: string, sentence: string): Promise<void>
}

export interface Loopback {
  redirectUri: string
  brought: Promise<Brought>
  close(): void
}

const PATH = '/callback'
const SHOW_MS = 2000
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
}

/**
 * Listens on a free port of 127.0.0.1 for the redirect of the browser (RFC 8252, section 7.3).
 * Other pages and programs of this computer can send requests there, too. Only a request with the
 * state of this login counts; all others are ignored.
 *
 * @param issuer see RFC 9207
 */
export async function openLoopback(state: string, issuer: string): Promise<Loopback> {
  let bring: (brought: Brought) => void = () => {}
  const brought = new Promise<Brought>(resolve => {
    bring = resolve
  })
  let isDone = false

  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const show: Brought['show'] = (heading, sentence) =>
      new Promise(resolve => {
        // The window may be closed by now, and a browser may never read the page.
        if (res.destroyed) return resolve()
        res.once('close', resolve)
        setTimeout(resolve, SHOW_MS).unref()
        res.writeHead(200, headers).end(pageOf(heading, sentence))
      })
    const refuse = (status: number, sentence: string) =>
      res.writeHead(status, headers).end(pageOf('Nothing to do here', sentence))
    const { host } = new URL(redirectUri)
    // An invalid URL such as "//[" must not crash the command.
    const url = URL.parse(req.url ?? '/', redirectUri)
    // A different Host header means DNS rebinding: a page resolved its own name to this computer.
    if (req.headers.host !== host || req.method !== 'GET' || url?.pathname !== PATH)
      return refuse(404, 'The command line waits here for the result of its login.')
    const given = (name: string) => url.searchParams.get(name)
    const isOurs = isSame(given('state') ?? '', state) && given('iss') === issuer
    if (!isOurs || isDone)
      return refuse(400, 'This result belongs to another login. Start the login again.')
    isDone = true
    bring({
      code: given('code'),
      error: given('error'),
      description: given('error_description'),
      show,
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`
  return {
    redirectUri,
    brought,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const isSame = (given: string, wanted: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const escaped = (text: string) => text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`)

const pageOf = (heading: string, sentence: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(heading)} · Satchel</title>
<style>body { max-width: 27rem; margin: 20vh auto; padding: 0 1.5rem; font: 1.0625rem/1.5 system-ui, sans-serif }</style>
<main><h1>${escaped(heading)}</h1><p>${escaped(sentence)}</p></main>
</html>
`
