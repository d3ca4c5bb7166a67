import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Config } from '../config/config.ts'
import { remembered } from '../runtime/remembered.ts'

/**
 * The length of an IPv6 address with zone and port. Longer texts are not cached, because some
 * proxies forward a caller's text.
 */
const LONGEST = 64

/** The address without brackets, port and zone. Some proxies append a port. */
const plainAddress = (address: string): string =>
  address
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')

/** A block of addresses that share a limit. */
export interface Block {
  name: string
  /**
   * The block's limit as a multiple of one network's limit; 0 if it is not limited and only takes
   * turns.
   */
  factor: number
}

/**
 * The network that an address counts as: an IPv4 address itself, or the /64 of an IPv6 address,
 * which one customer has.
 */
export const networkOf = remembered(LONGEST, address => blocksOf(address)[0].name)

/**
 * The blocks that contain an IP address, smallest first. All invalid addresses count as the same
 * one, so that inventing addresses does not help.
 */
export function blocksOf(address: string): [Block, ...Block[]] {
  const plain = plainAddress(address)
  if (isIPv4(plain)) return blocksOfIPv4(plain)
  if (!isIPv6(plain)) return [{ name: 'unknown', factor: 1 }]
  // The URL parser normalises an address to its canonical form.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const before = head.split(':').filter(Boolean)
  const after = tail?.split(':').filter(Boolean) ?? []
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  const mapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  if (mapped)
    return blocksOfIPv4(
      groups
        .slice(6)
        .flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
        .join('.'),
    )
  const [a, b, c, d = '0'] = groups
  const of56 = (Number.parseInt(d, 16) & 0xff00).toString(16)
  return [
    { name: `${a}:${b}:${c}:${d}::/64`, factor: 1 },
    { name: `${a}:${b}:${c}:${of56}::/56`, factor: 2 },
    { name: `${a}:${b}:${c}::/48`, factor: 4 },
    { name: `${a}:${b}::/32`, factor: 0 },
  ]
}

function blocksOfIPv4(address: string): [Block, ...Block[]] {
  const [a, b, c] = address.split('.')
  return [
    { name: address, factor: 1 },
    { name: `${a}.${b}.${c}.0/24`, factor: 4 },
    { name: `${a}.${b}.0.0/16`, factor: 0 },
    { name: `${a}.0.0.0/8`, factor: 0 },
  ]
}

/**
 * Truncates an address to its network: 192.0.2.0/24, 2001:db8:1::/48. That recognises a network but
 * does not identify a household.
 */
export const truncateAddress = remembered(LONGEST, (address): string => {
  const plain = plainAddress(address)
  if (!ipaddr.isValid(plain)) return 'unknown'
  const parsed = ipaddr.process(plain)
  if (parsed instanceof ipaddr.IPv4)
    return `${new ipaddr.IPv4([...parsed.octets.slice(0, 3), 0])}/24`
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 3), 0, 0, 0, 0, 0])}/48`
})

/** The client address in the form that LOG_ADDRESSES allows. */
export function addressForLog(
  mode: Config['logAddresses'],
): (address: string) => { address?: string } {
  if (mode === 'none') return () => ({})
  if (mode === 'full') return address => ({ address: address.slice(0, 64) })
  return address => ({ address: truncateAddress(address) })
}
