import { FOLDER } from '../../../db/models/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { Drive } from '../../access/drive.ts'
import { mayUsePrivateFiles } from '../../access/scopes.ts'
import { AppError, Forbidden, InvalidInput } from '../../runtime/errors.ts'
import type { Services } from '../../services/index.ts'
import { shareNotFound } from '../../services/sharing/share-link.ts'
import type { ShareView } from '../../services/sharing/share-list.ts'
import { DAY_MS } from '../../values/duration.ts'
import { entryNumber, idBefore, timeOfNumber } from '../../values/entry-number.ts'
import { MAX_PAGE } from '../../values/limits.ts'
import { parsePath, slashed } from '../../values/paths.ts'
import type { OcsValue } from './ocs.ts'

// Shares, as the Open Collaboration Services describe them. The rules and defaults are those of the
// other interfaces.

/** The kinds of shares in this protocol. */
const [PERSON, LINK] = [0, 3]
/** The permissions of this protocol. */
const permissions = { read: 1, update: 2, create: 4, delete: 8 } as const
/** The most shares of a list, and the most recipients that a search reads. */
const MAX_LISTED = 1000
/** The most people of a search. */
const MAX_SHAREES = 50

const secondsOf = (ms: number) => Math.floor(ms / 1000)
/** The last day of a share that ends at a time. A share until the end of a day ends at midnight. */
const lastDayOf = (ms: number) => new Date(ms - 60_000).toISOString().slice(0, 10)

/** The permissions of an editor. */
const editing = (isFolder: boolean): number =>
  permissions.update | (isFolder ? permissions.create | permissions.delete : 0)

/** A share as an element of a response. */
function elementOf({ previews }: Pick<Services, 'previews'>, share: ShareView): OcsValue {
  const isFolder = share.kind === FOLDER
  const isLink = share.sharedFor === ''
  const number = entryNumber(share.entryId)
  const path = slashed(share.names)
  const secret = share.passwordProtected ? '***' : null
  return {
    id: entryNumber(share.id),
    share_type: isLink ? LINK : PERSON,
    uid_owner: share.sharer.email,
    displayname_owner: share.sharer.name || share.sharer.email,
    uid_file_owner: share.sharer.email,
    displayname_file_owner: share.sharer.name || share.sharer.email,
    permissions: permissions.read | (share.mayEdit ? editing(isFolder) : 0),
    can_edit: true,
    can_delete: true,
    stime: secondsOf(share.createdAt),
    parent: null,
    expiration: share.expiresAt === null ? null : `${lastDayOf(share.expiresAt)} 00:00:00`,
    token: isLink ? share.token : null,
    note: share.message,
    label: share.label,
    path,
    item_type: isFolder ? 'folder' : 'file',
    mimetype: isFolder ? 'httpd/unix-directory' : share.fileType || 'application/octet-stream',
    has_preview: !isFolder && previews.isFor({ fileType: share.fileType, size: share.size }),
    storage_id: 'home',
    storage: 1,
    item_source: number,
    file_source: number,
    file_parent: null,
    file_target: path,
    // Apps take the recipient of a link for its password.
    share_with: isLink ? secret : share.sharedFor,
    share_with_displayname: isLink ? secret : share.sharedFor,
    password: secret,
    send_password_by_talk: false,
    url: isLink ? share.link : null,
    mail_send: 0,
    hide_download: share.allowDownload ? 0 : 1,
    attributes: null,
    tags: [],
  }
}

/** The values of a form, of which apps send some in the query. */
export type Form = (name: string) => string | undefined

/**
 * How long a share is valid that ends with a day, given as `2026-12-31`. An empty text removes the
 * end.
 * @throws INVALID_INPUT
 */
function durationTo(day: string): string {
  if (day === '') return 'never'
  const [, date] = /^(\d{4}-\d{2}-\d{2})/.exec(day) ?? []
  const end = date === undefined ? Number.NaN : Date.parse(date) + DAY_MS
  const seconds = Math.floor((end - Date.now()) / 1000)
  if (Number.isNaN(seconds) || seconds < 60)
    throw new InvalidInput(
      'expireDate',
      'The last day is a date such as 2026-12-31, today or later.',
    )
  return `${seconds}s`
}

/**
 * Whether permissions include those of an editor. Satchel knows no others.
 * @throws INVALID_INPUT
 */
function isEditing(asked: string | undefined, isFolder: boolean): boolean | undefined {
  if (asked === undefined || asked === '') return undefined
  const all = editing(isFolder)
  const wanted =
    Number(asked) & (editing(true) & (isFolder ? ~0 : ~(permissions.create | permissions.delete)))
  if (wanted === 0) return false
  if (wanted === all) return true
  throw new InvalidInput(
    'permissions',
    'A person may either view or edit. Allow changing, creating and deleting together, or none of them.',
  )
}

/** The terms that a new and a changed share have in common. */
function termsOf(form: Form) {
  const [label, note, day, hidden] = ['label', 'note', 'expireDate', 'hideDownload'].map(form)
  return {
    ...(label === undefined ? {} : { label }),
    ...(note === undefined ? {} : { message: note }),
    ...(day === undefined ? {} : { duration: durationTo(day) }),
    ...(hidden === undefined ? {} : { allowDownload: !['true', '1'].includes(hidden) }),
  }
}

type Needed = Pick<Services, 'directShares' | 'entryLists' | 'previews' | 'rateLimits' | 'shares'>

export function ocsShares(services: Needed) {
  const { shares, directShares, rateLimits, entryLists } = services

  /** All shares that the caller has made, newest first. */
  async function sent(caller: Caller, keeps: (share: ShareView) => boolean): Promise<ShareView[]> {
    const found: ShareView[] = []
    for (let after: string | null = null; found.length < MAX_LISTED; ) {
      const page = await shares.sentBy(caller, MAX_PAGE, after, { newestFirst: true })
      found.push(...page.rows.filter(keeps))
      if (!page.more) break
      after = page.last ?? null
    }
    return found
  }

  /**
   * A share of the caller by its number in this protocol.
   * @throws SHARE_NOT_FOUND
   */
  async function find(caller: Caller, number: string): Promise<ShareView> {
    const time = timeOfNumber(number)
    if (time === undefined) throw shareNotFound()
    for (const ended of [false, true]) {
      const { rows } = await shares.sentBy(caller, MAX_PAGE, idBefore(time), { ended })
      const share = rows.find(one => entryNumber(one.id) === number)
      if (share) return share
    }
    throw shareNotFound()
  }

  /** @throws FORBIDDEN, FILE_NOT_FOUND, INVALID_PATH */
  async function entryAt(caller: Caller, path: string) {
    const { tree } = Drive.own(caller).open('read')
    const names = parsePath(path)
    if (names.length === 0) throw new Forbidden('All files together cannot be shared.')
    const entry = await entryLists.at(tree, names)
    if (!entry)
      throw new AppError(
        'FILE_NOT_FOUND',
        'Only your own files can be shared from an app. Use Satchel for those of a workspace.',
      )
    return entry
  }

  const shown = (all: readonly ShareView[]): OcsValue => all.map(one => elementOf(services, one))

  return {
    /** The shares that the caller has made: all, or those of an entry or of a folder's entries. */
    async list(caller: Caller, form: Form): Promise<OcsValue> {
      mayUsePrivateFiles(caller, 'read')
      // Apps find received shares in their folder.
      if (form('shared_with_me') === 'true') return []
      const path = form('path')
      if (path === undefined || path === '' || path === '/')
        return shown(await sent(caller, () => true))
      const { id, names } = await entryAt(caller, path)
      if (form('subfiles') === 'true')
        return shown(
          await sent(
            caller,
            one =>
              one.bucketId === caller.bucket.bucketId &&
              one.names.length === names.length + 1 &&
              names.every((name, i) => one.names[i] === name),
          ),
        )
      const range = { after: null, newestFirst: true, limit: MAX_PAGE, kind: null }
      return shown((await shares.pagesOfEntries(caller, [id], range)).get(id)?.rows ?? [])
    },

    async get(caller: Caller, number: string): Promise<OcsValue> {
      mayUsePrivateFiles(caller, 'read')
      return shown([await find(caller, number)])
    },

    /**
     * @throws INSUFFICIENT_SCOPE, FORBIDDEN, FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT,
     * INVALID_DURATION, QUOTA_EXCEEDED, RATE_LIMITED
     */
    async create(caller: Caller, form: Form): Promise<OcsValue> {
      const { tree } = Drive.own(caller).open('share')
      const type = form('shareType')
      if (type !== String(LINK) && type !== String(PERSON))
        throw new InvalidInput('shareType', 'Share with a person (0) or by a link (3).')
      await rateLimits.hit(type === String(LINK) ? 'links' : 'sharing', caller.userId, {})
      const { id, kind } = await entryAt(caller, form('path') ?? '')
      const password = form('password') || undefined
      if (password) await rateLimits.hit('protected_links', caller.userId, {})
      const terms = { ...termsOf(form), ...(password ? { password } : {}) }
      if (type === String(LINK)) {
        if (form('publicUpload') === 'true')
          throw new Forbidden('A link cannot take uploads. Create a file request in Satchel.')
        return elementOf(services, await shares.create(caller, { tree, entries: [{ id }] }, terms))
      }
      const mayEdit = isEditing(form('permissions'), kind === FOLDER)
      const input = { ...terms, email: form('shareWith') ?? '', mayEdit }
      const made = await directShares.share(caller, tree, [{ id }], input)
      const ids = made.shares.map(share => share.id)
      const [share] = await shares.sentAmong(caller, ids)
      if (!share) throw shareNotFound()
      return elementOf(services, share)
    },

    /**
     * @throws INSUFFICIENT_SCOPE, SHARE_NOT_FOUND, INVALID_INPUT, INVALID_DURATION, QUOTA_EXCEEDED,
     * RATE_LIMITED
     */
    async update(caller: Caller, number: string, form: Form): Promise<OcsValue> {
      mayUsePrivateFiles(caller, 'share')
      await rateLimits.hit('links', caller.userId, {})
      const share = await find(caller, number)
      const password = form('password')
      if (password) await rateLimits.hit('protected_links', caller.userId, {})
      const mayEdit =
        share.sharedFor === '' ? undefined : isEditing(form('permissions'), share.kind === FOLDER)
      const terms = {
        ...termsOf(form),
        ...(password === undefined ? {} : { password: password || null }),
        ...(mayEdit === undefined ? {} : { mayEdit }),
      }
      return elementOf(services, await shares.update(caller, share.token, terms, 'by id'))
    },

    /** @throws INSUFFICIENT_SCOPE, SHARE_NOT_FOUND */
    async remove(caller: Caller, number: string): Promise<OcsValue> {
      mayUsePrivateFiles(caller, 'share')
      await shares.end(caller, (await find(caller, number)).token, 'by id')
      return []
    },

    /**
     * The people to share with whose addresses contain a text: those with whom the caller shares
     * already, and the typed address. It does not tell whether an address has an account.
     */
    async sharees(caller: Caller, form: Form): Promise<OcsValue> {
      mayUsePrivateFiles(caller, 'share')
      const typed = (form('search') ?? '').trim().toLowerCase()
      const recipients = await shares.recipients(caller, MAX_LISTED)
      const known = recipients
        .map(({ email }) => email)
        .filter(email => email !== typed && email.includes(typed))
      const personOf = (email: string): OcsValue => ({
        label: email,
        value: { shareType: PERSON, shareWith: email },
        shareWithDisplayNameUnique: email,
      })
      const isAddress = /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(typed)
      const exact = isAddress ? [personOf(typed)] : []
      const none = {
        groups: [],
        remotes: [],
        remote_groups: [],
        emails: [],
        circles: [],
        rooms: [],
      }
      return {
        exact: { users: exact, ...none },
        users: known.slice(0, MAX_SHAREES).map(personOf),
        ...none,
        lookup: [],
        lookupEnabled: false,
      }
    },
  }
}
