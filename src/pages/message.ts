import type { Caller } from '../access/caller.ts'
import { errorHeaders } from '../http/envelope.ts'
import type { AppError, ErrorCode } from '../runtime/errors.ts'
import type { Action, MessageView } from './views.ts'
import { leadingTo, type Page, page } from './visit.ts'
import { momentOf } from './words.ts'

/** Headings of error pages. */
const headings: Partial<Record<ErrorCode, [icon: MessageView['icon'], heading: string]>> = {
  SHARE_NOT_FOUND: ['link', 'Link not found'],
  SHARE_EXPIRED: ['clock', 'No longer available'],
  SHARE_USED_UP: ['check', 'Already used'],
  FILE_REQUEST_NOT_FOUND: ['link', 'Link not found'],
  FILE_REQUEST_CLOSED: ['clock', 'Closed'],
  RATE_LIMITED: ['clock', 'Please wait'],
  TOO_MANY_ATTEMPTS: ['lock', 'Please wait'],
  INVITE_NOT_FOUND: ['link', 'This invite no longer exists'],
  LOGIN_REQUEST_NOT_FOUND: ['clock', 'No program waits with this code'],
  INVITE_EXPIRED: ['clock', 'No longer valid'],
  INVITE_NOT_FOR_YOU: ['person', 'Not for this account'],
  ALREADY_A_MEMBER: ['check', 'You are in'],
  QUOTA_EXCEEDED: ['person', 'Not enough space'],
  FORBIDDEN: ['lock', 'You have no access'],
  TOKEN_NOT_FOUND: ['link', 'The file no longer exists'],
  INVALID_INPUT: ['compass', 'The form could not be read'],
  INTERNAL: ['cloud', 'Something went wrong'],
  UNAVAILABLE: ['cloud', 'Back in a moment'],
  MAINTENANCE: ['clock', 'Maintenance'],
}

const home: Action = { label: 'Go to the start page', href: '/' }

/** Signs out and then signs in again, with a return to this page. */
const switchAt = (here: string): Action => ({
  label: 'Sign in with another address',
  href: leadingTo(here, '/logout'),
  post: true,
})

/**
 * An error page: the message, the status that this error has in every interface, and what to do
 * next.
 */
export function errorPage(
  error: AppError,
  {
    caller,
    here,
    again,
    requestId,
  }: { caller: Caller | null; here: string; again: Action; requestId: string },
): Page {
  const { code, status, message, details } = error
  // An anonymous visitor cannot have used the wrong account, so the form is invalid.
  const badForm = code === 'INVALID_INPUT' || (code === 'FORBIDDEN' && !caller)
  const [icon, heading] = headings[badForm ? 'INVALID_INPUT' : code] ?? [
    'compass',
    'There is no such page',
  ]
  const seconds = Number(details.retry_after ?? (status >= 500 ? 5 : 0))
  const notYou = caller !== null && (code === 'INVITE_NOT_FOR_YOU' || code === 'FORBIDDEN')
  const data: MessageView = {
    icon,
    heading,
    sentence: message,
    at: code === 'TOO_MANY_ATTEMPTS' ? momentOf(Date.now() + seconds * 1000) : null,
    actions: notYou ? [switchAt(here)] : seconds > 0 || badForm ? [again] : [home],
    small:
      code === 'INTERNAL'
        ? `Request ${requestId}`
        : notYou
          ? `You are signed in as ${caller.email}.`
          : '',
  }
  return page('message', data, { title: heading, caller }, { status, headers: errorHeaders(error) })
}

/** The page after a successful form. */
export function donePage(
  heading: string,
  sentence: string,
  caller: Caller,
  next: Action = home,
): Page {
  const data: MessageView = {
    icon: 'check',
    heading,
    sentence,
    at: null,
    actions: [next],
    small: '',
  }
  return page('message', data, { title: heading, caller })
}
