import { parseCookie, stringifySetCookie } from 'cookie'
import type { Caller } from '../access/caller.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import { sendDelivery } from '../http/bytes.ts'
import type { Services } from '../services/index.ts'
import type { SharePage } from '../services/sharing/share-link.ts'
import { previewOf, sendPreview } from './preview.ts'
import type { ShareView } from './views.ts'
import { type Page, page, type Redirect, type Reply, readForm, signInAt, type Visit } from './visit.ts'
import { fileOf, momentOf, personOf } from './words.ts'

/** The path of the cookie is that of the page, so that it is sent to this share only. */
const PASS_COOKIE = 'share_pass'

/** The errors that the page itself handles, by a form. */
const asked: ErrorCode[] = ['PASSWORD_REQUIRED', 'WRONG_PASSWORD', 'UNAUTHENTICATED']
const isAsked = (error: unknown): error is AppError => error instanceof AppError && asked.includes(error.code)

/** Redirects to the page with the form. @throws all other errors */
function askOnPage({ here }: Visit, error: unknown): Redirect {
  if (!isAsked(error)) throw error
  return { to: here }
}

/** `/share/{token}`: the page behind a link to a file. */
export function sharePages({ services, secure }: { services: Services; secure: boolean }) {
  const { shareLinks, directShares } = services

  const passOf = ({ req }: Visit) => parseCookie(req.headers.cookie ?? '')[PASS_COOKIE]

  /** Both queries in parallel, to wait for one round trip only. */
  const load = (visit: Visit) => Promise.all([visit.caller(), shareLinks.find(visit.token)])

  const userOf = ({ address, log, req }: Visit) => ({ address, log, client: req.headers['user-agent'] })

  const visitor = async (visit: Visit) => ({
    caller: await visit.caller(),
    ...userOf(visit),
    pass: passOf(visit),
  })

  return {
    /** Opening the page does not count as a download. */
    async show(visit: Visit): Promise<Reply> {
      const [caller, share] = await load(visit)
      const look = shareLinks.describe(share, { caller, pass: passOf(visit) })
      if (visit.req.method === 'GET') await services.shareEvents.note(share.id, 'opened', { caller, ...userOf(visit) })
      if (look.unseen && caller && visit.req.method === 'GET')
        visit.afterwards(() => directShares.markSeen(caller, visit.token))
      return sharePage(visit, look, caller)
    },

    /** Checks the password, and stores in a cookie that it was right. */
    async unlock(visit: Visit): Promise<Reply> {
      const password = (await readForm(visit)).get('password') ?? ''
      const [caller, share] = await load(visit)
      try {
        const pass = await shareLinks.passFor(share, { caller, ...userOf(visit), password })
        const cookie = { path: visit.here, httpOnly: true, sameSite: 'strict', secure } as const
        return { to: visit.here, headers: { 'set-cookie': stringifySetCookie(PASS_COOKIE, pass, cookie) } }
      } catch (error) {
        if (!isAsked(error)) throw error
        return sharePage(visit, shareLinks.describe(share, { caller }), caller, error)
      }
    },

    async download(visit: Visit): Promise<Reply> {
      try {
        const request = { ...(await visitor(visit)), counts: visit.req.method !== 'HEAD' }
        await sendDelivery(visit, await shareLinks.open(visit.token, request), services.downloads)
        return undefined
      } catch (error) {
        return askOnPage(visit, error)
      }
    },

    /** Without a file, the page says why. */
    async preview(visit: Visit): Promise<Reply> {
      try {
        const { look, delivery } = await shareLinks.preview(visit.token, await visitor(visit))
        const { kind } = previewOf(look)
        if (!kind || !delivery) return { to: visit.here }
        await sendPreview(visit, { kind, delivery, fileType: look.fileType }, services.downloads)
        return undefined
      } catch (error) {
        return askOnPage(visit, error)
      }
    },
  }
}

const problems: Partial<Record<ErrorCode, string>> = {
  PASSWORD_REQUIRED: 'Type the password first.',
  WRONG_PASSWORD: 'This is not the password. Check it and try again.',
}

function sharePage({ here }: Visit, look: SharePage, caller: Caller | null, error?: AppError): Page {
  const file = fileOf(look.fileName, look.fileType, look.size)
  const { kind, short, missing } = previewOf(look)
  const data: ShareView = {
    file,
    until: momentOf(look.expiresAt),
    here,
    needs: look.needs,
    sharedBy: look.sharedBy && personOf(look.sharedBy),
    preview: kind && !look.needs ? { kind, short, src: `${here}/preview` } : null,
    noPreview: missing,
    signIn: signInAt(here),
    problem: (error && problems[error.code]) ?? '',
  }
  const status = error?.status ?? (look.needs === 'sign-in' ? 401 : 200)
  return page('share', data, { title: error ? `Error: ${file.name}` : file.name, caller }, { status })
}
