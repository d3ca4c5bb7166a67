import type { Caller } from '../access/caller.ts'
import { readWhole } from '../http/body.ts'
import type { Incoming } from '../http/incoming.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { readReturnTo } from '../sign-in/return-to.ts'
import type { Frame, Views } from './views.ts'
import type { Words } from './words.ts'

/** A request for a page. */
export interface Visit
  extends Pick<Incoming, 'req' | 'res' | 'query' | 'address' | 'signal' | 'log'> {
  /** The words of the page, in the language of its visitor. */
  words: Words
  /** The token in the URL, if there is one. */
  token: string
  /** The URL of the page itself, for forms and for the way back. */
  here: string
  /** The signed-in user, looked up at most once. API keys are ignored: pages are for people. */
  caller(): Promise<Caller | null>
  /** Looks the user up again, for work that outlives the moment. */
  callerNow(): Promise<Caller | null>
  /** Runs a task after the response, without blocking it. */
  afterwards(work: () => Promise<unknown>): void
}

/** A page, ready to be written. */
export interface Page {
  status: number
  view: keyof Views
  data: Views[keyof Views]
  frame: Pick<Frame, 'title'> & Partial<Frame>
  headers: Record<string, string>
}

/** A page of one view with its data. */
export const page = <V extends keyof Views>(
  view: V,
  data: Views[V],
  frame: Page['frame'],
  { status = 200, headers = {} }: Partial<Pick<Page, 'status' | 'headers'>> = {},
): Page => ({ status, view, data, frame, headers })

/** Redirects the browser to another page, by GET. */
export interface Redirect {
  to: string
  headers?: Record<string, string>
}

/** The response; undefined if it was already written. */
export type Reply = Page | Redirect | undefined

/** A page that redirects to another. */
export const leadingTo = (next: string, page: string): string =>
  `${page}?${new URLSearchParams({ return_to: next })}`

export const signInAt = (here: string): string => leadingTo(here, '/login')

/**
 * Redirects to the proof that a critical action needs, which leads back.
 * @throws any other error
 */
export function proveFirst(error: unknown, here: string): Redirect {
  if (!(error instanceof AppError) || error.code !== 'PROOF_NEEDED') throw error
  return { to: leadingTo(here, '/account/confirm') }
}

/** The page to return to: always on this service, and never the page itself. */
export function nextOf(query: URLSearchParams): string {
  const asked = readReturnTo(query.get('return_to') ?? undefined)
  return asked && !/^\/log(in|out)\b/.test(asked) ? asked : '/'
}

/** Larger than the longest password with every character escaped. */
const MAX_FORM_BYTES = 16 * 1024

/**
 * Reads the fields of a form of this service.
 *
 * @param maxBytes limit for its body
 * @throws INVALID_INPUT
 */
export async function readForm(
  { req }: Visit,
  maxBytes = MAX_FORM_BYTES,
): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new InvalidInput('content-type', 'Send the form as application/x-www-form-urlencoded.')
  const bytes = await readWhole(req, maxBytes, {
    tooLarge: () =>
      new InvalidInput('body', `A form of this kind may have up to ${maxBytes / 1024} KiB.`),
    broken: () => new InvalidInput('body', 'The form ended before it was complete. Send it again.'),
  })
  return new URLSearchParams(bytes.toString('utf8'))
}
