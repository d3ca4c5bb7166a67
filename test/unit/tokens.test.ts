import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { createTokens, hashSecret, newSecret } from '../../src/runtime/tokens.ts'

const secretKey = 'correct horse battery staple correct horse'
const tokens = createTokens(secretKey)
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The token with another character at this position. */
function altered(token: string, at: number): string {
  const character = alphabet[(alphabet.indexOf(token.charAt(at)) + 1) % 64]
  return token.slice(0, at) + character + token.slice(at + 1)
}

describe('newSecret', () => {
  it('is random base64url of the given number of bytes', () => {
    expect(newSecret()).toMatch(/^[\w-]{43}$/)
    expect(newSecret(16)).toMatch(/^[\w-]{22}$/)
    expect(new Set(Array.from({ length: 1000 }, () => newSecret())).size).toBe(1000)
  })
})

describe('hashSecret', () => {
  it('is the SHA-256 of the text', () => {
    expect(hashSecret('abc')).toEqual(createHash('sha256').update('abc').digest())
  })
})

describe('derive and read', () => {
  const id = randomUUID()
  const token = tokens.derive('share', id)

  it('always gives the same token for an id, and returns the id', () => {
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(tokens.derive('share', id)).toBe(token)
    expect(tokens.derive('share', id.toUpperCase())).toBe(token)
    expect(createTokens(secretKey).derive('share', id)).toBe(token)
    expect(tokens.read('share', token)).toBe(id)
  })

  it('keeps its form across versions', () => {
    expect(tokens.derive('share', '00112233-4455-6677-8899-aabbccddeeff')).toBe(
      'ABEiM0RVZneImaq7zN3u_zfKdJdgUCkFk2ZdN38GzUw',
    )
  })

  it('separates purposes and keys', () => {
    expect(tokens.derive('invite', id)).not.toBe(token)
    expect(tokens.read('invite', token)).toBeNull()
    expect(createTokens(`${secretKey}!`).read('share', token)).toBeNull()
  })

  it('refuses a change of any character', () => {
    for (let at = 0; at < token.length; at++)
      expect(tokens.read('share', altered(token, at))).toBeNull()
  })

  it('refuses every other encoding of the same bytes', () => {
    const last = token.slice(-1)
    const siblings = [...alphabet].filter(
      c => alphabet.indexOf(c) >> 2 === alphabet.indexOf(last) >> 2 && c !== last,
    )
    expect(siblings).toHaveLength(3)
    for (const sibling of siblings) {
      const other = token.slice(0, -1) + sibling
      expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(token, 'base64url'))
      expect(tokens.read('share', other)).toBeNull()
    }
    for (const other of [
      `${token}=`,
      ` ${token}`,
      `${token}\n`,
      Buffer.from(token, 'base64url').toString('base64'),
    ])
      expect(tokens.read('share', other)).toBeNull()
    // A token with - or _ must not be read in the other alphabet.
    let mixed = token
    while (!/[-_]/.test(mixed)) mixed = tokens.derive('share', randomUUID())
    expect(tokens.read('share', mixed.replaceAll('-', '+').replaceAll('_', '/'))).toBeNull()
  })

  it.each(['', 'x', 'a'.repeat(43), 'é'.repeat(43), '😀'.repeat(21), 'a'.repeat(1e6)])(
    'refuses %.10j',
    text => {
      expect(tokens.read('share', text)).toBeNull()
    },
  )

  it('derives from UUIDs only', () => {
    for (const wrong of ['', 'abc', `${id}0`, id.replaceAll('-', '')])
      expect(() => tokens.derive('share', wrong)).toThrow(TypeError)
  })
})

describe('seal and open', () => {
  const schema = z.object({ user: z.string() })

  it('opens a token with its payload until it expires', () => {
    const token = tokens.seal('state', { user: 'a' }, 60)
    expect(tokens.open(schema, 'state', token)).toEqual({ user: 'a' })
    expect(tokens.open(schema, 'state', tokens.seal('state', { user: 'a' }, 0))).toBeNull()
  })

  it('opens nothing else', () => {
    expect(tokens.open(schema, 'other', tokens.seal('state', { user: 'a' }, 60))).toBeNull()
    expect(tokens.open(schema, 'state', tokens.seal('state', { user: 1 }, 60))).toBeNull()
    for (const none of ['', 'x', null, undefined])
      expect(tokens.open(schema, 'state', none)).toBeNull()
  })
})

describe('seal and unseal', () => {
  const payload = { user: randomUUID(), file: 'docs/日本語.txt', n: 1 }

  it('returns the payload', () => {
    expect(tokens.unseal('download', tokens.seal('download', payload, 60))).toEqual({
      payload,
      expired: false,
    })
    expect(tokens.unseal('download', tokens.seal('download', {}, 60))).toEqual({
      payload: {},
      expired: false,
    })
  })

  it('hides the payload, and creates a different token every time', () => {
    const token = tokens.seal('download', payload, 60)
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('docs')
    expect(tokens.seal('download', payload, 60)).not.toBe(token)
  })

  it('expires', async () => {
    const lasting = tokens.seal('download', payload, 60)
    expect(tokens.unseal('download', lasting)).toEqual({ payload, expired: false })
    const token = tokens.seal('download', payload, 0.05)
    await new Promise(resolve => setTimeout(resolve, 70))
    expect(tokens.unseal('download', token)).toEqual({ payload, expired: true })
    expect(tokens.unseal('download', altered(token, 20))).toBeNull()
  })

  it('refuses a change of any character', () => {
    const token = tokens.seal('download', payload, 60)
    for (let at = 0; at < token.length; at++)
      expect(tokens.unseal('download', altered(token, at))).toBeNull()
    for (const other of [`${token}=`, token.slice(0, -1), `${token}A`, `${token}AAAA`, ` ${token}`])
      expect(tokens.unseal('download', other)).toBeNull()
  })

  it('separates purposes, keys and kinds', () => {
    const token = tokens.seal('download', payload, 60)
    expect(tokens.unseal('other', token)).toBeNull()
    expect(createTokens(`${secretKey}!`).unseal('download', token)).toBeNull()
    expect(tokens.unseal('download', tokens.derive('download', randomUUID()))).toBeNull()
  })

  it.each(['', 'x', 'a'.repeat(40), 'a'.repeat(44), 'a'.repeat(1e6)])('refuses %.10j', text => {
    expect(tokens.unseal('download', text)).toBeNull()
  })
})

describe('createTokens', () => {
  it('refuses a short key', () => {
    expect(() => createTokens('short')).toThrow(TypeError)
  })
})
