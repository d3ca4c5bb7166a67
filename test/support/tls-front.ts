import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'

/**
 * A TLS server that forwards everything to a local port.
 * @returns its port. Its host name is localhost.
 */
export async function startTlsFront(
  { cert, key }: { cert: string; key: string },
  port: number,
): Promise<{ port: number; stop(): void }> {
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, client => {
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() }
}
