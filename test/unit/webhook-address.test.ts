import { describe, expect, it } from '@jest/globals'
import { webhookAddresses } from '../../src/services/notices/webhook-address.ts'

const open = [
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
]

const closed = [
  ...[
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
  ],
  ...[
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
  ],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::ffff:1.1.1.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::1.1.1.1',
    '100::1',
  ],
  ...[
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
  ],
]

describe('Webhooks may reach', () => {
  const mayReach = webhookAddresses([])

  it.each(open)('%s', address => {
    expect(mayReach(address)).toBe(true)
  })

  it.each([...closed, 'localhost', '', '1.1.1', '127.1'])('not %s', address => {
    expect(mayReach(address)).toBe(false)
  })

  it('exactly the addresses that the operator allows', () => {
    const allowed = webhookAddresses(['10.1.2.0/24', '127.0.0.1', 'fd00:1::/32', '::1'])
    for (const address of ['10.1.2.3', '127.0.0.1', 'fd00:1::2', '::1', ...open])
      expect(allowed(address)).toBe(true)
    for (const address of ['10.1.3.1', '127.0.0.2', 'fd00:2::1', '::ffff:10.1.2.3', '::2'])
      expect(allowed(address)).toBe(false)
  })
})
