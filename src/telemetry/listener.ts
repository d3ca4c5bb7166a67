import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'

export type MetricsAddress = NonNullable<Config['metrics']>

/** The text format that every Prometheus version reads. */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export interface MetricsListener {
  port: number
  close(): void
}

/**
 * Serves only GET /metrics, on a separate address.
 * @param text called once for concurrent scrapes
 */
export async function listenForScrapes(
  { host, port }: MetricsAddress,
  text: () => Promise<string>,
  log: Log,
): Promise<MetricsListener> {
  let scraped: Promise<string> | undefined
  const server = createServer({ requestTimeout: 10_000 }, (req, res) => {
    const answer = (status: number, body: string, more: Record<string, string> = {}) => {
      const length = { 'content-length': Buffer.byteLength(body) }
      res.writeHead(status, {
        ...headers,
        'content-type': 'text/plain; charset=utf-8',
        ...length,
        ...more,
      })
      res.end(req.method === 'HEAD' ? '' : body)
    }
    const [path] = (req.url ?? '').split('?')
    if (path !== '/metrics')
      return answer(404, 'There is nothing at this URL. The metrics are at /metrics.\n')
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return answer(405, 'This URL accepts only GET and HEAD.\n', { allow: 'GET, HEAD' })
    scraped ??= text().finally(() => {
      scraped = undefined
    })
    scraped.then(
      body => answer(200, body, { 'content-type': TYPE }),
      error => {
        log.error({ err: error }, 'the metrics could not be read')
        answer(500, 'The metrics could not be read. The log of the service says why.\n')
      },
    )
  })
  server.maxConnections = 100
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  // The listener must not keep a finished process running.
  server.unref()
  const at = server.address() as AddressInfo
  log.info({ host, port: at.port }, 'metrics are served at /metrics')
  return {
    port: at.port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
