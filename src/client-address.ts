import ipaddr from 'ipaddr.js'
import type { Config } from './config.ts'

/**
 * An address as the network that it is in: 192.0.2.0/24, 2001:db8:1::/48. Enough to recognise a network, too little to name a household.
 * Some proxies append a port.
 */
export function truncateAddress(address: string): string {
  const plain = address
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (!ipaddr.isValid(plain)) return 'unknown'
  const parsed = ipaddr.process(plain)
  if (parsed instanceof ipaddr.IPv4) return `${new ipaddr.IPv4([...parsed.octets.slice(0, 3), 0])}/24`
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 3), 0, 0, 0, 0, 0])}/48`
}

/** Few clients send most requests. */
const REMEMBERED = 1000

/** The address of a client as the log may show it, by the setting LOG_ADDRESSES. */
export function addressForLog(mode: Config['logAddresses']): (address: string) => { address?: string } {
  if (mode === 'none') return () => ({})
  if (mode === 'full') return address => ({ address: address.slice(0, 64) })
  const known = new Map<string, { address: string }>()
  return address => {
    const shown = known.get(address) ?? { address: truncateAddress(address) }
    if (known.size >= REMEMBERED) known.clear()
    known.set(address, shown)
    return shown
  }
}
