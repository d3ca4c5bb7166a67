import type { Caller } from '../auth/caller.ts'
import { readReturnTo } from '../auth/return-to.ts'
import { InvalidInput } from '../errors.ts'
import type { Incoming } from '../gateway/http.ts'
import { readWhole } from '../rest/body.ts'
import type { Frame, Views } from './views.ts'

/** Somebody who asks for a page. */
export interface Visit extends Pick<Incoming, 'req' | 'res' | 'query' | 'address' | 'signal' | 'log'> {
  /** What the address carries, on the pages that have a token. */
  token: string
  /** The address of the page itself, for forms and for the way back. */
  here: string
  /** Who has signed in; looked up at most once. A program with a key is no person: it counts as nobody. */
  caller(): Promise<Caller | null>
  /** Does something when the answer is on its way: nobody waits for it. */
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

/** A page of one view, with what that view needs. */
export const page = <V extends keyof Views>(
  view: V,
  data: Views[V],
  frame: Page['frame'],
  { status = 200, headers = {} }: Partial<Pick<Page, 'status' | 'headers'>> = {},
): Page => ({ status, view, data, frame, headers })

/** Where the browser goes instead, by GET. */
export interface Redirect {
  to: string
  headers?: Record<string, string>
}

/** What is answered; undefined when it has been written already. */
export type Reply = Page | Redirect | undefined

/** A page that leads on to another one. */
export const leadingTo = (next: string, page: string): string => `${page}?${new URLSearchParams({ return_to: next })}`

export const signInAt = (here: string): string => leadingTo(here, '/login')

/** Where a page leads that was given an address to go on to; never elsewhere, and not in a circle. */
export function nextOf(query: URLSearchParams): string {
  const asked = readReturnTo(query.get('return_to') ?? undefined)
  return asked && !/^\/log(in|out)\b/.test(asked) ? asked : '/'
}

/** More than the longest password, in the longest writing of every character. */
const MAX_FORM_BYTES = 16 * 1024

/** Reads what a form of ours sends. @throws INVALID_INPUT */
export async function readForm({ req }: Visit): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new InvalidInput('content-type', 'Send the form as application/x-www-form-urlencoded.')
  const bytes = await readWhole(req, MAX_FORM_BYTES, {
    tooLarge: () => new InvalidInput('body', 'A form may have up to 16 KiB.'),
    broken: () => new InvalidInput('body', 'The form ended before it was complete. Send it again.'),
  })
  return new URLSearchParams(bytes.toString('utf8'))
}
