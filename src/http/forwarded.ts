import type { IncomingMessage } from 'node:http'
import type { Log } from '../runtime/log.ts'

const headers = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip']

/**
 * Warns once when an untrusted peer sends forwarding headers. If the peer is a proxy, all its
 * visitors count as one address, and one of them can use up the limit of all.
 */
export function watchForwarded(trusts: (peer: string, hops: number) => boolean, log: Log) {
  let warned = false
  return ({ headers: given, socket }: IncomingMessage): void => {
    if (warned) return
    const header = headers.find(name => given[name] !== undefined)
    if (!header || trusts(socket.remoteAddress ?? '', 0)) return
    warned = true
    log.warn(
      { peer: socket.remoteAddress, header },
      'a peer that is not in TRUST_PROXY sends forwarded addresses: if it is your proxy, add it; otherwise all its visitors count as one address',
    )
  }
}
