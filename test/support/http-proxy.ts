import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
} from 'node:http'
import type { AddressInfo } from 'node:net'

declare const storeUnderTest: 'disk' | 'azure' | 's3'

/** A request in transit, with its whole body. */
export interface Passing {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/**
 * Changes a request: may delay it, return other bytes of the same length, or cut the connection by
 * throwing.
 */
export type Interference = (passing: Passing) => unknown

/** A proxy between an HTTP client and a server, which can read every request. */
export interface HttpProxy {
  port: number
  url: string
  /** Called for each request from now on. If it resolves to bytes, they replace the body. */
  interfere: Interference
  close(): Promise<void>
}

/** Forwards requests to a server on this machine. */
export async function startHttpProxy(port: number): Promise<HttpProxy> {
  const agent = new Agent({ keepAlive: true })
  const server = createServer(async (req, res) => {
    try {
      const { method = '', url: path = '', headers } = req
      const read = Buffer.concat(await req.toArray())
      const other = await proxy.interfere({ method, path, headers, body: read })
      const body = Buffer.isBuffer(other) ? other : read
      const { 'transfer-encoding': _chunked, ...rest } = headers
      const length =
        read.length > 0 || 'content-length' in headers ? { 'content-length': body.length } : {}
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const out = request(
          { port, host: '127.0.0.1', method, path, headers: { ...rest, ...length }, agent },
          resolve,
        )
        out.on('error', reject)
        out.end(body)
      })
      res.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(res)
    } catch {
      req.socket.destroy()
    }
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const own = (server.address() as AddressInfo).port
  const proxy: HttpProxy = {
    port: own,
    url: `http://127.0.0.1:${own}`,
    interfere: () => {},
    async close() {
      const closed = new Promise(done => server.close(done))
      server.closeAllConnections()
      await closed
      agent.destroy()
    },
  }
  return proxy
}

/** A proxy before the blob store of the tests, with its connection string. */
export async function startStoreProxy(): Promise<HttpProxy & { connectionString: string }> {
  // A test run may have both stores configured.
  const direct = (storeUnderTest === 's3' ? process.env.TEST_S3 : process.env.TEST_AZURE) ?? ''
  const target = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(direct)?.[1])
  const proxy = await startHttpProxy(target)
  return Object.assign(proxy, {
    connectionString: direct.replace(`:${target}/`, `:${proxy.port}/`),
  })
}

/** The operation of a request to a blob store. */
export function storeRequest({ method, path, headers }: Passing): string {
  const comp = new URLSearchParams(path.split('?')[1]).get('comp')
  if (headers['x-ms-copy-source']) return 'copy'
  const names: Record<string, string> = {
    'PUT block': 'part',
    'GET blocklist': 'parts',
    'PUT blocklist': 'commit',
    'PUT properties': 'describe',
    'GET list': 'list',
    GET: 'read',
    HEAD: 'look',
    DELETE: 'remove',
  }
  return names[comp ? `${method} ${comp}` : method] ?? `${method} ${comp}`
}
