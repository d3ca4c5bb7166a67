import { parseCookie, stringifySetCookie } from 'cookie'
import { readMultipart } from '../rest/multipart.ts'
import { AppError, type ErrorCode } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { SenderVisit } from '../services/sharing/file-request-link.ts'
import { networkOf } from '../values/network.ts'
import { oneLine } from '../values/one-line.ts'
import { sentenceOf } from './message.ts'
import type { TextKey } from './text.ts'
import type { RequestView } from './views.ts'
import { type Page, page, type Reply, readForm, type Visit } from './visit.ts'
import type { Words } from './words.ts'

/** The path of the cookie is that of the page, so that it is sent to this file request only. */
const SENDER_COOKIE = 'request_sender'

/** Errors that the page shows beside its form. */
const asked: ErrorCode[] = [
  'PASSWORD_REQUIRED',
  'WRONG_PASSWORD',
  'INVALID_INPUT',
  'INVALID_PATH',
  'FILE_TOO_LARGE',
  'FILE_REQUEST_FULL',
]
const isAsked = (error: unknown): error is AppError =>
  error instanceof AppError && asked.includes(error.code)

const problems: Partial<Record<ErrorCode, TextKey>> = {
  PASSWORD_REQUIRED: 'passwordFirst',
  WRONG_PASSWORD: 'passwordWrong',
}

/** The messages that the script of the page shows. */
const senderKeys: TextKey[] = [
  ...(['chooseFiles', 'rowSent', 'rowWaiting', 'rowDetached', 'rowPaused', 'rowChecking'] as const),
  ...(['rowOf', 'rowSending', 'rowCancelled', 'pause', 'resume', 'tryAgain', 'cancel'] as const),
  ...(['tooLarge', 'connectionLost', 'serviceAway', 'fileChanged', 'noWorker'] as const),
]

function problemOf(error: AppError, words: Words): string {
  const known = problems[error.code]
  return known ? words.say(known) : sentenceOf(error, words)
}

/** `/request/{token}`: the upload page of a file request. */
export function requestPages({ services, secure }: { services: Services; secure: boolean }) {
  const { fileRequestLinks: links, fileRequestUploads: uploads, rateLimits } = services

  const cookieOf = ({ req }: Visit) => parseCookie(req.headers.cookie ?? '')[SENDER_COOKIE]

  const visitor = ({ address, log, req }: Visit, sender: string | undefined): SenderVisit => ({
    caller: null,
    address,
    log,
    client: req.headers['user-agent'],
    sender,
  })

  const remembering = ({ here }: Visit, sender: string) => {
    const cookie = { path: here, httpOnly: true, sameSite: 'strict', secure } as const
    return { 'set-cookie': stringifySetCookie(SENDER_COOKIE, sender, cookie) }
  }

  /**
   * The page for this sender. A new visitor becomes a sender if no password or name is required.
   */
  async function shown(visit: Visit, error?: AppError): Promise<Page> {
    const { words } = visit
    const known = cookieOf(visit)
    const { info, sender, sent } = await links.page(visit.token, known)
    const isAsked = !sender && (info.passwordProtected || info.asksName)
    const token = sender
      ? known
      : isAsked
        ? undefined
        : await links.enter(visit.token, visitor(visit, undefined))
    const thanks = (count: number) => words.say('thanks', { name: oneLine(info.askedBy), count })
    const data: RequestView = {
      here: visit.here,
      api: `/api/request/${visit.token}`,
      label: info.label,
      paragraphs: info.message === '' ? [] : info.message.split('\n').filter(line => line !== ''),
      askedBy: oneLine(info.askedBy),
      until: info.expiresAt === null ? null : words.momentOf(info.expiresAt),
      kinds: info.kinds,
      maxFile: words.sizeOf(info.maxFileBytes),
      maxFileBytes: info.maxFileBytes,
      asks: isAsked ? { password: info.passwordProtected, name: info.asksName } : null,
      name: sender?.name ?? '',
      isFull: info.isFull,
      sender: token ?? '',
      sent: sent.map(({ fileName, bytes, receivedAt }) => ({
        ...words.fileOf(fileName, '', bytes),
        at: words.momentOf(receivedAt),
      })),
      thanksForOne: thanks(1),
      thanksForMore: thanks(2),
      texts: words.forScript(senderKeys),
      problem: error ? problemOf(error, words) : '',
    }
    const title = error ? words.say('errorTitle', { title: info.label }) : info.label
    const headers = token !== undefined && token !== known ? remembering(visit, token) : {}
    return page('request', data, { title, caller: null }, { status: error?.status ?? 200, headers })
  }

  return {
    show: (visit: Visit): Promise<Reply> => shown(visit),

    /** Checks the password and name, and stores the sender in a cookie. */
    async enter(visit: Visit): Promise<Reply> {
      const form = await readForm(visit)
      try {
        const given = { password: form.get('password'), name: form.get('name') }
        const sender = await links.enter(visit.token, {
          ...visitor(visit, cookieOf(visit)),
          ...given,
        })
        return { to: visit.here, headers: remembering(visit, sender) }
      } catch (error) {
        if (!isAsked(error)) throw error
        return shown(visit, error)
      }
    },

    /** Accepts one file from a browser without scripts. */
    async upload(visit: Visit): Promise<Reply> {
      try {
        await rateLimits.hit('file_request_uploads', `network ${networkOf(visit.address)}`, {})
        const form = await readMultipart(visit.req, visit.signal)
        try {
          const { sender } = await uploads.upload(
            visit.token,
            visitor(visit, cookieOf(visit)),
            form.values.file,
          )
          await form.finished
          return { to: visit.here, headers: remembering(visit, sender) }
        } finally {
          form.close()
        }
      } catch (error) {
        if (!isAsked(error)) throw error
        return shown(visit, error)
      }
    },
  }
}
