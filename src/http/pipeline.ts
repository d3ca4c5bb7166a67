import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many pipelined requests may wait on one connection. Pipelining clients send about ten. */
const MAX_WAITING = 32
/**
 * How many requests beyond that are ignored before the connection is cut. The parser creates
 * objects for each request, read or not.
 */
const MAX_BEYOND = 32

interface Exchange {
  req: IncomingMessage
  res: ServerResponse
}

/** The pipelined requests behind the current one of a connection. */
interface Line {
  waiting: Exchange[]
  /**
   * Requests beyond the limit. The first is refused in its turn, and the others get no response.
   */
  beyond: number
}

/**
 * Handles the requests of a connection one after the other. Node starts all pipelined requests at
 * once, hundreds in one packet, and keeps their responses until the client reads them. RFC 9112,
 * section 9.3.2 only requires responses in order.
 * @param handle starts a request
 * @param refuse refuses the first request beyond the limit, and closes its connection
 */
export function oneAtATime(handle: RequestListener, refuse: RequestListener): RequestListener {
  /** The connections with a request in progress. */
  const lines = new WeakMap<Socket, Line>()

  function begin({ req, res }: Exchange, line: Line): void {
    const { socket } = req
    const isLast = line.beyond > 0 && line.waiting.length === 0
    // The response was handed to the system, or the connection is gone.
    res.once('close', () => {
      const next = socket.destroyed ? undefined : line.waiting.shift()
      if (next) begin(next, line)
      else lines.delete(socket)
    })
    if (isLast) refuse(req, res)
    else handle(req, res)
  }

  return (req, res) => {
    const { socket } = req
    const line = lines.get(socket)
    if (!line) {
      const first: Line = { waiting: [], beyond: 0 }
      lines.set(socket, first)
      return begin({ req, res }, first)
    }
    if (line.beyond > 0 || line.waiting.length >= MAX_WAITING) line.beyond++
    if (line.beyond <= 1) line.waiting.push({ req, res })
    else if (line.beyond > MAX_BEYOND) socket.destroy()
  }
}
