import { parseCookie, stringifySetCookie } from 'cookie'
import { FOLDER } from '../../db/models/entry.ts'
import type { LinkedShare } from '../../db/queries/share.ts'
import type { Caller } from '../access/caller.ts'
import { Drive } from '../access/drive.ts'
import { sendBytes, sendDelivery } from '../http/bytes.ts'
import { AppError, type ErrorCode } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { SharePage } from '../services/sharing/share-info.ts'
import { joinPath } from '../values/paths.ts'
import { shareTitle } from '../values/share-title.ts'
import { linkPreview, paragraphsOf, titleOf } from './link-preview.ts'
import { previewOf, sendPreview } from './preview.ts'
import { addressOf, askedOf, folderPage, listOf, PAGE, placeOf } from './shared-folder.ts'
import type { TextKey } from './text.ts'
import type { SaveView, ShareView } from './views.ts'
import {
  type Page,
  page,
  type Redirect,
  type Reply,
  readForm,
  signInAt,
  type Visit,
} from './visit.ts'
import { sharerOf } from './words.ts'

/** The path of the cookie is that of the page, so that it is sent to this share only. */
const PASS_COOKIE = 'share_pass'
/** The chosen view of a shared folder: `tiles` or `list`. Its path is that of the page, too. */
const VIEW_COOKIE = 'share_view'

const YEAR_SECONDS = 365 * 86_400

/** Room for the most paths that an archive accepts, of maximum length and mostly escaped. */
const MAX_ZIP_FORM_BYTES = 640 * 1024

/** Errors that the page handles with a form. */
const asked: ErrorCode[] = ['PASSWORD_REQUIRED', 'WRONG_PASSWORD', 'UNAUTHENTICATED']
const isAsked = (error: unknown): error is AppError =>
  error instanceof AppError && asked.includes(error.code)

/**
 * Redirects to the page with the form.
 *
 * @param at place within the share
 * @throws all other errors
 */
function askOnPage({ here }: Visit, error: unknown, at: Record<string, string> = {}): Redirect {
  if (!isAsked(error)) throw error
  return { to: pageAt(here, at) }
}

interface ShareOptions {
  services: Services
  secure: boolean
  /** Whether recipients can edit in the console. */
  hasConsole: boolean
}

/**
 * `/share/{token}`: the page of a share link. In a shared folder, `?path=` is a subfolder and
 * `?file=` a file.
 */
export function sharePages({ services, secure, hasConsole }: ShareOptions) {
  const { shareLinks, directShares } = services

  const cookiesOf = ({ req }: Visit) => parseCookie(req.headers.cookie ?? '')
  const passOf = (visit: Visit) => cookiesOf(visit)[PASS_COOKIE]

  /** Runs both queries in parallel, to save a round trip. */
  const load = (visit: Visit) => Promise.all([visit.caller(), shareLinks.find(visit.token)])

  const userOf = ({ address, log, req }: Visit) => ({
    address,
    log,
    client: req.headers['user-agent'],
  })

  const visitor = async (visit: Visit) => ({
    caller: await visit.caller(),
    ...userOf(visit),
    pass: passOf(visit),
  })

  /**
   * The form to save the shown entries to a drive. Null for visitors without a drive or permission,
   * and for the sharer.
   */
  async function saveView({ here, query }: Visit, caller: Caller | null, share: LinkedShare) {
    if (!caller || caller.userId === share.userId || !share.allowDownload) return null
    const id = query.get('saved')
    const saved = id ? await services.listings.entry(caller.bucket, { id }) : null
    const at = placeIn(query)
    const count = Object.keys(at).length > 0 ? null : share.entryCount
    return {
      action: `${here}/save`,
      at,
      saved: saved && shareTitle(joinPath(saved.names), count),
    } satisfies SaveView
  }

  /** A folder or file below the share, for visitors who may see it. */
  async function inFolder(
    visit: Visit,
    look: SharePage,
    caller: Caller | null,
    share: LinkedShare,
  ): Promise<Page> {
    const { here, query, token, words } = visit
    const file = query.get('file')
    const save = await saveView(visit, caller, share)
    if (file)
      return sharePage(
        visit,
        (await shareLinks.preview(token, await visitor(visit), file)).look,
        caller,
        {
          file,
          save,
        },
      )
    const place = placeOf(query)
    const page = { limit: PAGE, cursor: query.get('cursor') }
    const level = await shareLinks.list(token, await visitor(visit), { ...askedOf(place), page })
    const view = lookIn(query.get('view'))
    const chosen = view ?? lookIn(cookiesOf(visit)[VIEW_COOKIE])
    // Only recipient and sharer can see a share with one person.
    const mayEdit =
      hasConsole && share.mayEdit !== 0 && caller !== null && caller.userId !== share.userId
    const edit = mayEdit ? `/shared/${share.id}` : null
    const shown = folderPage({ here, place, level, look, caller, save, edit, chosen, words })
    if (!view) return shown
    const cookie = { path: here, maxAge: YEAR_SECONDS, sameSite: 'lax', secure } as const
    shown.headers['set-cookie'] = stringifySetCookie(VIEW_COOKIE, view, cookie)
    return shown
  }

  return {
    /**
     * Opening the page does not count as a download. Loading the next page of the list does not
     * count as opening.
     */
    async show(visit: Visit): Promise<Reply> {
      const [caller, share] = await load(visit)
      const look = shareLinks.describe(share, { caller, pass: passOf(visit) })
      if (visit.req.method === 'GET' && !isReadingOn(visit, look))
        await shareLinks.noteOpened(share, { caller, ...userOf(visit) })
      if (look.unseen && caller && visit.req.method === 'GET')
        visit.afterwards(() => directShares.markSeen(caller, visit.token))
      if (look.kind === FOLDER && !look.needs) return inFolder(visit, look, caller, share)
      return sharePage(visit, look, caller, {
        save: look.needs ? null : await saveView(visit, caller, share),
      })
    },

    /** Saves the shown entries to the visitor's drive, and shows the page again. */
    async save(visit: Visit): Promise<Reply> {
      const at = placeIn(await readForm(visit))
      const { caller, ...user } = await visitor(visit)
      if (!caller) return { to: signInAt(pageAt(visit.here, at)) }
      try {
        const { tree, limits } = Drive.own(caller).open('write')
        const place = {
          tree,
          limits,
          folder: { path: '' },
          name: null,
          onConflict: 'keep_both',
        } as const
        const paths = Object.values(at)
        const [saved = ''] = (
          await services.shareSaves.save(visit.token, { ...user, caller }, paths, place)
        ).ids
        return { to: pageAt(visit.here, { ...at, saved }) }
      } catch (error) {
        return askOnPage(visit, error, at)
      }
    },

    /** Checks the password, and stores the success in a cookie. */
    async unlock(visit: Visit): Promise<Reply> {
      const password = (await readForm(visit)).get('password') ?? ''
      const [caller, share] = await load(visit)
      try {
        const pass = await shareLinks.passFor(share, { caller, ...userOf(visit), password })
        const cookie = { path: visit.here, httpOnly: true, sameSite: 'strict', secure } as const
        return {
          to: ownAddress(visit),
          headers: { 'set-cookie': stringifySetCookie(PASS_COOKIE, pass, cookie) },
        }
      } catch (error) {
        if (!isAsked(error)) throw error
        return sharePage(visit, shareLinks.describe(share, { caller }), caller, { error })
      }
    },

    async download(visit: Visit): Promise<Reply> {
      try {
        const counts = visit.req.method !== 'HEAD'
        const request = { ...(await visitor(visit)), counts, path: visit.query.get('path') }
        await sendDelivery(visit, await shareLinks.open(visit.token, request), services.downloads)
        return undefined
      } catch (error) {
        return askOnPage(visit, error, fileIn(visit.query))
      }
    },

    /** An archive of the selected entries, or of the current folder. */
    async zip(visit: Visit): Promise<Reply> {
      const form = await readForm(visit, MAX_ZIP_FORM_BYTES)
      const path = form.get('path') ?? ''
      const paths = form.getAll('entry')
      const request = {
        ...(await visitor(visit)),
        counts: true,
        ...(paths.length > 0 ? { paths } : { path }),
      }
      try {
        return { to: (await shareLinks.open(visit.token, request)).url }
      } catch (error) {
        return askOnPage(visit, error, placeIn(form))
      }
    },

    /** Without a file, the page shows the reason. */
    async preview(visit: Visit): Promise<Reply> {
      const [path, version] = [visit.query.get('path'), visit.query.get('small')]
      try {
        const picture =
          version === null
            ? null
            : await shareLinks.picture(visit.token, await visitor(visit), path, version)
        if (picture) {
          await sendBytes(visit, picture)
          return undefined
        }
        const { look, delivery } = await shareLinks.preview(visit.token, await visitor(visit), path)
        const { kind } = previewOf(look, visit.words)
        // The contents of an archive are listed with range requests. A request for the whole file
        // counts as a download.
        const isWhole = kind === 'archive' && visit.req.headers.range === undefined
        if (!kind || !delivery || isWhole) return { to: pageAt(visit.here, fileIn(visit.query)) }
        await sendPreview(visit, { kind, delivery, fileType: look.fileType })
        return undefined
      } catch (error) {
        return askOnPage(visit, error, fileIn(visit.query))
      }
    },
  }
}

const problems: Partial<Record<ErrorCode, TextKey>> = {
  PASSWORD_REQUIRED: 'passwordFirst',
  WRONG_PASSWORD: 'passwordWrong',
}

/** @param file its path, if it is in a shared folder */
function sharePage(
  visit: Visit,
  look: SharePage,
  caller: Caller | null,
  {
    error,
    file: path,
    save = null,
  }: { error?: AppError; file?: string; save?: SaveView | null } = {},
): Page {
  const { here, query, words } = visit
  const { say } = words
  const { fileName, fileType, size } = look
  const isFolder = look.kind === FOLDER && path === undefined
  // What a password hides, and what only its recipient may see.
  const isHidden = look.needs !== null
  const file = isFolder ? words.folderOf(fileName, size) : words.fileOf(fileName, fileType, size)
  const { kind, layout, short, missing } = previewOf(look, words)
  const at = path === undefined ? '' : `?${new URLSearchParams({ path })}`
  const problem = error && problems[error.code]
  const data: ShareView = {
    file: isHidden ? null : file,
    title: isHidden || path !== undefined ? '' : look.title,
    paragraphs: isHidden || path !== undefined ? [] : paragraphsOf(look.message),
    until: look.expiresAt === null ? null : words.momentOf(look.expiresAt),
    own: ownAddress(visit),
    download: look.allowDownload ? `${here}/download${at}` : null,
    save,
    back: path === undefined ? null : listOf(here, placeOf(query)),
    needs: look.needs,
    isPublic: look.isPublic,
    sharedBy: sharerOf(look.sharedBy),
    preview: kind && !isHidden ? { kind, layout, short, src: `${here}/preview${at}`, size } : null,
    noPreview: missing,
    signIn: signInAt(ownAddress(visit)),
    problem: problem ? say(problem) : '',
  }
  const status = error?.status ?? (look.needs === 'sign-in' ? 401 : 200)
  const title = isHidden
    ? say(look.needs === 'password' ? 'protectedTitle' : 'privateTitle')
    : path === undefined
      ? titleOf(look, words)
      : file.name
  const frame = {
    title: error ? say('errorTitle', { title }) : title,
    caller,
    og: linkPreview(look, words, path === undefined ? title : undefined),
  }
  return page('share', data, frame, { status })
}

const lookIn = (text: string | null | undefined) =>
  text === 'tiles' || text === 'list' ? text : undefined

/** Whether the visitor requests a further page of the list. */
const isReadingOn = ({ query }: Visit, { kind }: SharePage): boolean =>
  kind === FOLDER && query.has('cursor') && !query.has('file')

/** The place in a shared folder from a query or form: a file, or else a folder. */
function placeIn(given: URLSearchParams): Record<string, string> {
  const name = ['file', 'path'].find(name => given.get(name))
  return name ? { [name]: given.get(name) ?? '' } : {}
}

/** The file from the query of a preview or download. */
const fileIn = (query: URLSearchParams): Record<string, string> =>
  placeIn(new URLSearchParams({ file: query.get('path') ?? '' }))

const pageAt = (here: string, at: Record<string, string>): string => {
  const query = new URLSearchParams(at)
  return query.size > 0 ? `${here}?${query}` : here
}

/** The URL of the current page: a file, or a place in the shared folder. */
const ownAddress = ({ here, query }: Visit): string => addressOf(here, placeOf(query))
