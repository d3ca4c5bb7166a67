import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Held } from '../runtime/held.ts'
import { networkOf } from '../values/network.ts'

/** How long a connection beyond the limit stays open, so that its first request can be answered. */
const GRACE_MS = 5000

/**
 * Limits the connections of each client IP address. Those of a trusted proxy are not counted: they carry the requests of many clients.
 * A connection beyond the limit is refused with its first request; beyond twice the limit it is cut.
 */
export function boundConnections(server: Server, max: number, isProxy: (address: string) => boolean) {
  const held = new Held()
  const refused = new WeakSet<Socket>()

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isProxy(address)) return
    const network = networkOf(address)
    const release = held.acquire(1, [[network, 2 * max]])
    if (!release) return void socket.destroy()
    socket.once('close', release)
    if (held.of(network) <= max) return
    refused.add(socket)
    setTimeout(() => socket.destroy(), GRACE_MS).unref()
  })

  return {
    /** Whether the address of this connection has too many of them. */
    isRefused: (socket: Socket): boolean => refused.has(socket),
  }
}
