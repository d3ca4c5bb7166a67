import { describe, expect, it } from '@jest/globals'
import { readReturnTo, withError } from '../../src/sign-in/return-to.ts'

describe('readReturnTo', () => {
  it.each([
    ['/', '/'],
    ['/docs', '/docs'],
    ['/docs/a%20b?x=1&y=%2F%2Fevil.example#part', '/docs/a%20b?x=1&y=%2F%2Fevil.example#part'],
    ['/docs/ä b', '/docs/%C3%A4%20b'],
    ['/a/../b', '/b'],
    ['/authors', '/authors'],
    ['/docs?to=https://evil.example', '/docs?to=https://evil.example'],
    ['/docs//x', '/docs//x'],
    [`/${'a'.repeat(1023)}`, `/${'a'.repeat(1023)}`],
  ])('accepts %j', (text, path) => {
    expect(readReturnTo(text)).toBe(path)
  })

  it.each([
    undefined,
    '',
    'docs',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/%5cevil.example',
    '/%5Cevil.example',
    '/%2fevil.example',
    '/%2F%2Fevil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/x/..//evil.example',
    '/%2e%2e//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/docs\\x',
    '/docs\r\nSet-Cookie: a=b',
    '/docs%0d%0aSet-Cookie:%20a=b',
    '/docs\u0085',
    '/docs\ud800',
    '/%ff',
    '/%',
    'https://evil.example',
    'https:evil.example',
    'HTTP://evil.example/',
    'javascript:alert(1)',
    '/auth',
    '/auth/',
    '/auth/oauth?provider=hub',
    '/auth/logout',
    '/AUTH/logout',
    '/%61uth/logout',
    '/x/../auth/logout',
    '/./auth/logout',
    '/auth%2flogout',
    `/${'a'.repeat(1024)}`,
    `/${'ä'.repeat(300)}`,
  ])('rejects %j', text => {
    expect(readReturnTo(text)).toBeNull()
  })

  it('returns the accepted value, and an equivalent for browsers', () => {
    for (const text of [
      '/docs/ä b?q=ü#ö',
      '/a/./b/../c',
      "/;x=1/'quoted'|",
      '/:8080/x',
      '/@evil.example/',
    ]) {
      const path = readReturnTo(text)
      expect(path).not.toBeNull()
      expect(readReturnTo(path ?? undefined)).toBe(path)
      expect(new URL(path ?? '', 'https://files.example.com/auth/callback').origin).toBe(
        'https://files.example.com',
      )
    }
  })
})

describe('withError', () => {
  const publicUrl = 'https://files.example.com'

  it.each([
    [null, 'https://files.example.com/?error=auth_failed'],
    ['/docs', '/docs?error=auth_failed'],
    ['/docs?a=1#part', '/docs?a=1&error=auth_failed#part'],
    ['/docs?error=invalid_state&a=1', '/docs?error=auth_failed&a=1'],
  ])('puts the reason into %j', (place, address) => {
    expect(withError(publicUrl, place, 'auth_failed')).toBe(address)
  })
})
