import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'

/**
 * Keeps connections open between requests. Node briefly leaves an idle connection without an error
 * listener. If a server has responded early and hangs up in that moment, the error would be
 * uncaught and stop the process. So each connection has its own listener. The sender of a request
 * still gets the error.
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
