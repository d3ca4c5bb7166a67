import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of a service. On request, it serves a next build of the console. */
export interface Deployment {
  url: string
  /** Switches to the next build: its files have other names, and the previous ones are gone. */
  deploy(): void
  close(): Promise<void>
}

const hashed = /(\/assets\/|["'`]\.\/)([\w.-]+)-([\w-]{8})\.(js|css)/g
const texts = /^(?:text\/(?:html|javascript|css)|application\/json)/

/**
 * The same files under other names, in a page with their version, and with another service worker.
 */
const next = (text: string) =>
  text
    .replace(hashed, '$1$2-$3.next.$4')
    .replace(/("version":"|name="version" content=")\w+/, '$1next')
    .replace('<head>', '<head><meta name="build" content="next">')

export async function startDeployment(service: string): Promise<Deployment> {
  let isNext = false
  const pass = (req: IncomingMessage, res: ServerResponse) => {
    const { method, url = '/', headers } = req
    const isOld = isNext && /^\/console\/assets\//.test(url) && !/\.next\./.test(url)
    const path = isOld ? '/console/assets/gone.js' : url.replace('.next.', '.')
    // The service only knows its own URL.
    const own = {
      host: new URL(service).host,
      origin: headers.origin && service,
      'accept-encoding': 'identity',
    }
    const sent = Object.fromEntries(
      Object.entries({ ...headers, ...own }).filter(([, value]) => value !== undefined),
    )
    const out = request(service + path, { method, headers: sent }, async answer => {
      const answered = { ...answer.headers }
      if (!isNext || !texts.test(answered['content-type'] ?? '')) {
        res.writeHead(answer.statusCode ?? 500, answered)
        return answer.pipe(res)
      }
      const text = next(Buffer.concat(await answer.toArray()).toString())
      delete answered['content-length']
      res.writeHead(answer.statusCode ?? 500, answered).end(text)
    })
    out.on('error', () => req.socket.destroy())
    res.on('close', () => out.destroy())
    req.pipe(out)
  }
  const server = createServer(pass)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    deploy() {
      isNext = true
    },
    async close() {
      const closed = new Promise(done => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}
