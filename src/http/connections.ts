import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Coordination } from '../coordination/coordination.ts'
import { networkOf } from '../values/network.ts'

/** How long a connection beyond the limit stays open, so that its first request gets a response. */
const GRACE_MS = 5000

interface Bounds {
  /** Maximum connections per address. */
  max: number
  isProxy: (address: string) => boolean
  coordination: Coordination
}

/**
 * Limits connections per client IP address. Connections of trusted proxies are not counted, because
 * they carry the requests of many clients. A connection beyond the limit is refused with its first
 * request, and beyond twice the limit it is cut.
 */
export function boundConnections(server: Server, { max, isProxy, coordination }: Bounds) {
  const refused = new WeakMap<Socket, Promise<boolean>>()

  /** Counts a connection until it closes. */
  async function hold(socket: Socket, kind: string): Promise<boolean> {
    const release = await coordination.holdOften(1, [[kind, max]])
    if (!release) return false
    if (socket.destroyed) release()
    else socket.once('close', release)
    return true
  }

  async function refuses(socket: Socket, network: string): Promise<boolean> {
    if (await hold(socket, `connections of ${network}`)) return false
    if (await hold(socket, `refused connections of ${network}`))
      setTimeout(() => socket.destroy(), GRACE_MS).unref()
    else socket.destroy()
    return true
  }

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (!isProxy(address)) refused.set(socket, refuses(socket, networkOf(address)))
  })

  return {
    /** Whether the address of this connection has too many connections. */
    isRefused: async (socket: Socket): Promise<boolean> => (await refused.get(socket)) ?? false,
  }
}
