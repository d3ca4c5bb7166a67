import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'

/**
 * Keeps connections open between requests.
 *
 * Between two requests Node leaves such a connection without an error listener for a moment. If a
 * server has answered before it was sent everything, and hangs up then, that would be an uncaught
 * exception, the end of this process. So each connection has one of its own; the sender of a
 * request gets the error as ever.
 */
export function keepAliveAgent(protocol: string): HttpAgent {
  const agent =
    protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (...given) => {
    const socket = connect(...given)
    socket?.on('error', () => {})
    return socket
  }
  return agent
}
