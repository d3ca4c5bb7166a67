import type { Caller } from '../access/caller.ts'
import { errorHeaders } from '../http/envelope.ts'
import type { AppError, ErrorCode } from '../runtime/errors.ts'
import { refusalIn } from './refusals/refusal.ts'
import type { TextKey } from './text.ts'
import type { Action, MessageView } from './views.ts'
import { leadingTo, type Page, page } from './visit.ts'
import type { Words } from './words.ts'

/** Headings of error pages. */
const headings: Partial<Record<ErrorCode, [icon: MessageView['icon'], heading: TextKey]>> = {
  SHARE_NOT_FOUND: ['link', 'headLink'],
  SHARE_EXPIRED: ['clock', 'headExpired'],
  SHARE_USED_UP: ['check', 'headUsedUp'],
  FILE_REQUEST_NOT_FOUND: ['link', 'headLink'],
  FILE_REQUEST_CLOSED: ['clock', 'headClosed'],
  RATE_LIMITED: ['clock', 'headWait'],
  TOO_MANY_ATTEMPTS: ['lock', 'headWait'],
  INVITE_NOT_FOUND: ['link', 'headInvite'],
  LOGIN_REQUEST_NOT_FOUND: ['clock', 'headLogin'],
  INVITE_EXPIRED: ['clock', 'headInviteExpired'],
  INVITE_NOT_FOR_YOU: ['person', 'headNotYou'],
  ALREADY_A_MEMBER: ['check', 'headMember'],
  QUOTA_EXCEEDED: ['person', 'headSpace'],
  FORBIDDEN: ['lock', 'headForbidden'],
  TOKEN_NOT_FOUND: ['link', 'headGone'],
  INVALID_INPUT: ['compass', 'headForm'],
  INTERNAL: ['cloud', 'headInternal'],
  UNAVAILABLE: ['cloud', 'headAway'],
  MAINTENANCE: ['clock', 'headMaintenance'],
}

const homeIn = ({ say }: Words): Action => ({ label: say('home'), href: '/' })

/** Signs out and then signs in again, with a return to this page. */
const switchAt = (here: string, { say }: Words): Action => ({
  label: say('otherAddress'),
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
    words,
  }: { caller: Caller | null; here: string; again: Action; requestId: string; words: Words },
): Page {
  const { code, status, details } = error
  // An anonymous visitor cannot have used the wrong account, so the form is invalid.
  const badForm = code === 'INVALID_INPUT' || (code === 'FORBIDDEN' && !caller)
  const { say } = words
  const [icon, headingKey] = headings[badForm ? 'INVALID_INPUT' : code] ?? ['compass', 'headNoPage']
  const heading = say(headingKey)
  const seconds = Number(details.retry_after ?? (status >= 500 ? 5 : 0))
  const notYou = caller !== null && (code === 'INVITE_NOT_FOR_YOU' || code === 'FORBIDDEN')
  const data: MessageView = {
    icon,
    heading,
    sentence: sentenceOf(error, words),
    at: code === 'TOO_MANY_ATTEMPTS' ? words.momentOf(Date.now() + seconds * 1000) : null,
    actions: notYou ? [switchAt(here, words)] : seconds > 0 || badForm ? [again] : [homeIn(words)],
    small:
      code === 'INTERNAL'
        ? say('request', { id: requestId })
        : notYou
          ? say('signedInNow', { email: caller.email })
          : '',
  }
  return page('message', data, { title: heading, caller }, { status, headers: errorHeaders(error) })
}

/** The message of an error in the language of the page. */
export function sentenceOf(
  { code, message, details }: AppError,
  { language, say, momentOf }: Words,
): string {
  const known = refusalIn(language, message)
  if (known) return known
  if (code === 'MAINTENANCE') return say('maintenance', { time: momentOf(endOf(details)).text })
  const seconds = Number(details.retry_after ?? 0)
  return seconds > 0 ? say('waitSeconds', { count: seconds }) : say('otherRefusal', { message })
}

const endOf = ({ until }: AppError['details']) => Date.parse(String(until))

interface Done {
  heading: string
  sentence: string
  caller: Caller
  next?: Action
}

/** The page after a successful form. */
export function donePage(words: Words, { heading, sentence, caller, next }: Done): Page {
  const data: MessageView = {
    icon: 'check',
    heading,
    sentence,
    at: null,
    actions: [next ?? homeIn(words)],
    small: '',
  }
  return page('message', data, { title: heading, caller })
}
