import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * Stands between the service and something it needs, and lets that something die in every way a
 * network knows.
 */
export interface FlakyProxy {
  port: number
  /** Where it passes everything on to. */
  target: { host: string; port: number }
  /** Nobody listens any more, and whoever is connected is cut. */
  refuse(): Promise<void>
  /** Cuts whoever is connected; whoever comes again is served. */
  cut(): void
  /** Takes connections and bytes, and answers nothing. */
  freeze(): void
  /** How many bytes have come from there. */
  passed(): number
  /** How many bytes have gone there. */
  sent(): number
  /** Everything passes again, also what froze. */
  heal(): Promise<void>
  close(): Promise<void>
}

/** Passes everything on to `target`, until told otherwise. */
export async function startFlakyProxy(target: { host: string; port: number }): Promise<FlakyProxy> {
  const sockets = new Set<Socket>()
  let frozen = false
  let passed = 0
  let sent = 0

  const join = (one: Socket, other: Socket) => {
    one.on('data', chunk => other.write(chunk))
    one.on('error', () => {})
    one.on('close', () => {
      sockets.delete(one)
      other.destroy()
    })
    sockets.add(one)
    if (frozen) one.pause()
  }
  const server: Server = createServer(client => {
    const upstream = connect(target)
    join(client, upstream)
    join(upstream, client)
    client.on('data', chunk => {
      sent += chunk.length
    })
    upstream.on('data', chunk => {
      passed += chunk.length
    })
  })
  const listen = (port: number) => new Promise<void>(done => server.listen(port, '127.0.0.1', done))
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const refuse = async () => {
    const closed = new Promise(done => server.close(done))
    cut()
    await closed
  }

  await listen(0)
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    port,
    target,
    refuse,
    cut,
    passed: () => passed,
    sent: () => sent,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    async heal() {
      frozen = false
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen(port)
    },
    async close() {
      if (server.listening) await refuse()
    },
  }
}
