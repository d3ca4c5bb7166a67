import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isFromElsewhere } from '../../access/origin.ts'
import { isSame } from '../../runtime/tokens.ts'

const minutes = 15

/**
 * The secret of the address that a start prints on a terminal. It is kept in the memory of the
 * process alone.
 */
export interface FirstBrowser {
  /** Makes the secret, in place of an earlier one. @returns 192 random bits in base64url */
  begin(): string
  /** Whether this is the secret; if it is, there is none from then on. */
  redeem(secret: string): boolean
  /**
   * Answers the address: leads to the form, which asks this browser for no word if the secret was
   * the right one. The form asks who the person is, so it signs no one in to the account of another
   * person. Requests from pages of other origins and prefetching do not use it up.
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
