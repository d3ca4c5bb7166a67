import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isFromElsewhere } from '../../access/origin.ts'
import { isSame } from '../../runtime/tokens.ts'

const minutes = 15

/**
 * The secret in the URL that the service prints on a terminal when it starts. It exists only in the
 * memory of this process.
 */
export interface FirstBrowser {
  /** Creates the secret, and replaces an earlier one. @returns 192 random bits in base64url */
  begin(): string
  /** Whether this is the secret. A match consumes the secret. */
  redeem(secret: string): boolean
  /**
   * Handles the URL: redirects to the form, which does not ask this browser for the word if the
   * secret is right. The form asks for an identity, so nobody is signed in to another person's
   * account. Requests from pages of other origins and prefetches do not consume the secret.
   */
  handle(req: IncomingMessage, res: ServerResponse): void
}

/** @param remember makes the cookie of a known browser */
export function createFirstBrowser(publicUrl: string, remember: () => string): FirstBrowser {
  let expected: { secret: string; until: number } | undefined
  const first: FirstBrowser = {
    begin() {
      const secret = randomBytes(24).toString('base64url')
      expected = { secret, until: Date.now() + minutes * 60_000 }
      return secret
    },
    redeem(secret) {
      if (!expected || Date.now() >= expected.until || !isSame(secret, expected.secret))
        return false
      expected = undefined
      return true
    },
    handle(req, res) {
      const secret = new URL(req.url ?? '', publicUrl).searchParams.get('secret') ?? ''
      const { 'sec-purpose': purpose, purpose: formerly } = req.headers
      const isAhead = req.method !== 'GET' || /prefetch|preview/i.test(`${purpose} ${formerly}`)
      if (!isAhead && !isFromElsewhere(req, [publicUrl]) && first.redeem(secret))
        res.appendHeader('Set-Cookie', remember())
      const to = {
        Location: '/auth/oauth?return_to=/',
        'Cache-Control': 'no-store',
        'Referrer-Policy': 'no-referrer',
      }
      res.writeHead(303, to).end()
    },
  }
  return first
}
