import type { IncomingMessage } from 'node:http'
import type { Origin } from '../access/caller.ts'
import type { Config } from '../config/config.ts'
import { addressForLog } from '../values/network.ts'

const LONGEST_AGENT = 200

/**
 * The origin of a request for the audit trail, with its address in the form that the log may show.
 */
export function origins(mode: Config['logAddresses']) {
  const shown = addressForLog(mode)
  return ({ headers }: Pick<IncomingMessage, 'headers'>, address: string): Origin => ({
    address: shown(address).address ?? null,
    agent: headers['user-agent']?.replace(/[^\x20-\x7e]+/g, ' ').slice(0, LONGEST_AGENT) ?? null,
  })
}
