import type { IncomingMessage } from 'node:http'
import type { Origin } from '../access/caller.ts'
import type { Config } from '../config/config.ts'
import { addressForLog } from '../values/network.ts'

const LONGEST_AGENT = 200

/** Where a request comes from, as the audit trail keeps it: its address as the log may show it. */
export function origins(mode: Config['logAddresses']) {
  const shown = addressForLog(mode)
  return ({ headers }: Pick<IncomingMessage, 'headers'>, address: string): Origin => ({
    address: shown(address).address ?? null,
    agent: headers['user-agent']?.replace(/[^\x20-\x7e]+/g, ' ').slice(0, LONGEST_AGENT) ?? null,
  })
}
