import { BlockList, isIP, isIPv6 } from 'node:net'
import { InvalidInput } from '../../runtime/errors.ts'
import { figure, MAX_WEBHOOK_URL } from '../../values/limits.ts'

/**
 * IPv4 addresses that are not public: special-purpose (IANA IPv4 Special-Purpose Address Registry),
 * multicast and reserved.
 */
const closed4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/**
 * The range of public IPv6 addresses (RFC 4291). Loopback, local, multicast and IPv4-mapped
 * addresses are outside it.
 */
const open6 = ['2000::/3']
/**
 * Ranges inside `open6` that are not public: tunnels to IPv4, which can lead anywhere, and
 * documentation examples.
 */
const closed6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

/**
 * Builds a list of addresses and ranges such as 10.0.0.0/8. A list holds one family, because
 * Node.js also matches an IPv4 address by its IPv6-mapped form.
 */
function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    if (isIPv6(address) !== (family === 'ipv6')) continue
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/**
 * Decides which IP addresses webhooks may be sent to: public addresses, and addresses that the
 * operator has allowed.
 */
export type MayReach = (address: string) => boolean

/** @param allowed addresses and ranges */
export function webhookAddresses(allowed: readonly string[]): MayReach {
  const allowed4 = listOf(allowed, 'ipv4')
  const allowed6 = listOf(allowed, 'ipv6')
  const [private4, public6, private6] = [
    listOf(closed4, 'ipv4'),
    listOf(open6, 'ipv6'),
    listOf(closed6, 'ipv6'),
  ]
  return address => {
    switch (isIP(address)) {
      case 4:
        return allowed4.check(address, 'ipv4') || !private4.check(address, 'ipv4')
      case 6:
        return (
          allowed6.check(address, 'ipv6') ||
          (public6.check(address, 'ipv6') && !private6.check(address, 'ipv6'))
        )
      default:
        return false
    }
  }
}

/** The IP address in a URL whose host is an IP address. Null if the host is a name. */
export function addressIn({ hostname }: URL): string | null {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) ? plain : null
}

/** Reads the URL of a webhook. @throws INVALID_INPUT */
export function readUrl(text: string, mayReach: MayReach): URL {
  const url = URL.canParse(text) && text.length <= MAX_WEBHOOK_URL ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash)
    throw new InvalidInput(
      'url',
      `Give an http or https URL of up to ${figure(MAX_WEBHOOK_URL)} characters, without a user name, password or fragment.`,
    )
  const address = addressIn(url)
  if (address !== null && !mayReach(address))
    throw new InvalidInput(
      'url',
      'The URL leads to an address that is not public. Give another URL, or ask the operator to allow this address.',
    )
  return url
}
