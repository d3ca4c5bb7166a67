import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { openBrowser } from '../../runtime/open-browser.ts'
import { linkSignal, sleep, untilAborted } from '../../upload-engine/signal.ts'
import { readEnvironment } from '../config.ts'
import { Failure } from '../failure.ts'
import { type Brought, openLoopback } from '../loopback.ts'
import { CLIENT_ID, issuerOf, LoginRefusal, postForm } from '../oauth.ts'
import type { Context } from '../run.ts'
import { jsonLine, plain } from '../text.ts'
import { privateWords, scopeOf, wireScope } from '../words.ts'

export interface BrowserOptions {
  /** Requested scopes. Defaults to all scopes for private files. */
  scope?: string[]
  /** Lifetime of the key. */
  for?: string
  /** Seconds to wait for the sign-in. */
  wait?: number
  /** Whether to open the browser. Otherwise the URL is only printed. */
  open?: boolean
}

/** A key that was issued for this login. */
export interface Issued {
  access_token: string
  key_id: string
  scope: string
}

interface DeviceCodes {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const WAIT_SECONDS = 300
const MAX_NAME = 100

/**
 * Whether a browser on this computer is likely to open: not over SSH, and not without a display.
 */
export function hasBrowser(): boolean {
  const { ssh, display } = readEnvironment()
  if (ssh !== undefined) return false
  return process.platform === 'darwin' || process.platform === 'win32' || display !== undefined
}

/** The request parameters that both flows share. */
function termsOf({ scope = [], for: lifetime }: BrowserOptions): Record<string, string> {
  const scopes = (scope.length > 0 ? scope : Object.keys(privateWords)).map(word =>
    wireScope(scopeOf(word, privateWords)),
  )
  return {
    client_id: CLIENT_ID,
    client_name: [...`satchel on ${plain(hostname()) || 'a computer'}`].slice(0, MAX_NAME).join(''),
    scope: scopes.join(' '),
    ...(lifetime === undefined ? {} : { key_expires_in: lifetime }),
  }
}

/**
 * Prints instructions for the person. With --json, prints them as a separate document, because the
 * person needs them before the result.
 */
function tell({ json, notice }: Context, fact: object, lines: string[]): void {
  if (json) process.stderr.write(jsonLine(fact))
  else for (const line of lines) notice(line)
}

const minutes = (seconds: number) =>
  seconds % 60 === 0
    ? `${seconds / 60} minute${seconds === 60 ? '' : 's'}`
    : `${seconds} second${seconds === 1 ? '' : 's'}`

const tooLate = (seconds: number) =>
  new Failure(
    'LOGIN_TIMED_OUT',
    `The login was not answered within ${minutes(seconds)}. Run satchel login again or, without a browser, satchel login --device.`,
  )

/** Adds a timeout to a wait. */
async function within<T>(
  seconds: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = linkSignal(outer)
  const timer = setTimeout(() => own.end(tooLate(seconds)), seconds * 1000)
  try {
    return await untilAborted(work(own.signal), own.signal)
  } finally {
    clearTimeout(timer)
    own.release()
  }
}

/** Signs in with the browser of this computer: loopback redirect with PKCE (RFC 8252, RFC 7636). */
export async function signInByBrowser(
  context: Context,
  url: string,
  options: BrowserOptions,
): Promise<Issued> {
  const { patience, notice } = context
  const { wait = WAIT_SECONDS, open = true } = options
  const terms = termsOf(options)
  const issuer = await issuerOf(url, patience)
  const [verifier, state] = [
    randomBytes(32).toString('base64url'),
    randomBytes(16).toString('base64url'),
  ]
  const loopback = await openLoopback(state, issuer)
  try {
    const { redirectUri } = loopback
    const query = new URLSearchParams({
      ...terms,
      response_type: 'code',
      redirect_uri: redirectUri,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    const address = `${url}/authorize?${query}`
    tell(context, { open: { url: address } }, [
      `${open ? 'Approve the login in your browser. If none opens, open' : 'Open'} this URL on this computer:`,
      address,
    ])
    if (open) openBrowser(address, () => notice('No browser could be opened. Open the URL above.'))
    const brought = await within(wait, patience.signal, () => loopback.brought)
    return await exchange(context, url, brought, { redirectUri, verifier })
  } finally {
    loopback.close()
  }
}

async function exchange(
  { patience }: Context,
  url: string,
  { code, error, description, show }: Brought,
  { redirectUri, verifier }: { redirectUri: string; verifier: string },
): Promise<Issued> {
  try {
    if (code === null) throw refusalOf(error ?? 'invalid_request', description)
    const form = {
      grant_type: 'authorization_code',
      client_id: CLIENT_ID,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    const issued = await postForm<Issued>(url, '/oauth/token', form, 'once', patience)
    await show('You are signed in', 'You can close this window, and go back to the terminal.')
    return issued
  } catch (failure) {
    const sentence = failure instanceof Failure ? failure.message : 'Start the login again.'
    await show('You are not signed in', `${sentence} You can close this window.`)
    throw failure
  }
}

const refusalOf = (error: string, description: string | null) =>
  new LoginRefusal(
    error,
    error === 'access_denied' ? 'The login was refused in the browser.' : (description ?? error),
  )

/** Signs in with a browser on any device: device code flow (RFC 8628). */
export async function signInByCode(
  context: Context,
  url: string,
  options: BrowserOptions,
): Promise<Issued> {
  const { patience } = context
  const terms = termsOf(options)
  await issuerOf(url, patience)
  const codes = await postForm<DeviceCodes>(
    url,
    '/oauth/device_authorization',
    terms,
    'once',
    patience,
  )
  const { user_code, verification_uri, verification_uri_complete, expires_in } = codes
  tell(context, { open: { url: verification_uri_complete, userCode: user_code } }, [
    `Open ${verification_uri} in a browser on any device, and enter the code`,
    `  ${user_code}`,
    `or open ${verification_uri_complete}`,
    'The page must show the same code.',
  ])
  const seconds = Math.min(options.wait ?? expires_in, expires_in)
  return within(seconds, patience.signal, signal => poll(url, codes, { ...patience, signal }))
}

async function poll(
  url: string,
  codes: DeviceCodes,
  patience: Context['patience'],
): Promise<Issued> {
  const form = { grant_type: DEVICE_GRANT, client_id: CLIENT_ID, device_code: codes.device_code }
  for (let { interval } = codes; ; ) {
    await sleep(interval * 1000, patience.signal)
    try {
      return await postForm<Issued>(url, '/oauth/token', form, 'repeatable', patience)
    } catch (error) {
      if (!(error instanceof LoginRefusal)) throw error
      if (error.error === 'slow_down') interval += 5
      else if (error.error !== 'authorization_pending') throw refusalOf(error.error, error.message)
    }
  }
}
