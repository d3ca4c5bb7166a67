import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How many requests may wait on one connection for those before them. Clients that pipeline send
 * about ten.
 */
const MAX_WAITING = 32
/**
 * After so many more the connection is cut: the parser makes objects of each request, read or not.
 */
const MAX_BEYOND = 32

interface Exchange {
  req: IncomingMessage
  res: ServerResponse
}

/** What follows the request of a connection that is being handled. */
interface Line {
  waiting: Exchange[]
  /**
   * Requests that are too many: the first of them is refused in its turn, the others are not
   * answered.
   */
  beyond: number
}

/**
 * Handles the requests of a connection one after the other. Node begins all that were sent without
 * waiting for answers at once, hundreds in one packet, and keeps their answers until the client
 * reads them; RFC 9112, section 9.3.2 asks for the order of answers only.
 * @param handle begins a request
 * @param refuse answers the first request that is too many, and ends its connection
 */
export function oneAtATime(handle: RequestListener, refuse: RequestListener): RequestListener {
  /** Of the connections that have a request under way. */
  const lines = new WeakMap<Socket, Line>()

  function begin({ req, res }: Exchange, line: Line): void {
    const { socket } = req
    const isLast = line.beyond > 0 && line.waiting.length === 0
    // Its answer has been handed to the system, or its connection is gone.
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
