import { connect, createServer, type Server, type Socket } from 'node:net'

/** A proxy between the service and a dependency that can fail like a network. */
export interface FlakyProxy {
  port: number
  /** The address to which it forwards. */
  target: { host: string; port: number }
  /** Refuses new connections, and closes the existing ones. */
  refuse(): Promise<void>
  /** Closes the existing connections, and accepts new ones. */
  cut(): void
  /** Accepts connections and bytes, and never responds. */
  freeze(): void
  /** The number of bytes received from the target. */
  passed(): number
  /** The number of bytes sent to the target. */
  sent(): number
  /** Forwards everything again, including frozen connections. */
  heal(): Promise<void>
  close(): Promise<void>
}

/** Forwards everything to `target` until another method is called. */
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
