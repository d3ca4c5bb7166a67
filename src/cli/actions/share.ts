import type { Service } from '../client.ts'
import { withEach } from '../each.ts'
import { Failure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import {
  MarkSeenDocument,
  QuickShareDocument,
  ReceivedDocument,
  RevokeDocument,
  ShareDocument,
  type SharedEntryFragment,
  type ShareRowFragment,
  SharesDocument,
  UpdateShareDocument,
} from '../generated.ts'
import { linkLines } from '../link-lines.ts'
import { allPages } from '../pages.ts'
import { ownToken } from '../path.ts'
import type { Place } from '../place.ts'
import { readSecret } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, linkTable, until } from '../table.ts'
import { plain } from '../text.ts'
import { wordOf } from '../words.ts'

export interface ShareOptions extends Terms {
  /** Email address of the recipient; undefined for a public link. */
  with?: string
  link?: boolean
  together?: boolean
  for?: string
  maxDownloads?: number
  notify?: boolean
  qr?: boolean
}

/** Permissions and notifications of a share. */
interface Terms {
  password?: boolean
  label?: string
  title?: string
  message?: string
  viewOnly?: boolean
  /** Only for shares with a person. */
  edit?: boolean
  notifyMe?: boolean
}

export interface QuickShareOptions extends Omit<Terms, 'edit'> {
  for?: string
  maxDownloads?: number
  qr?: boolean
}

export interface EditOptions extends Omit<Terms, 'viewOnly'> {
  expires?: string
  /** False removes the limit. */
  limit?: number | false
  download?: boolean
}

export interface ReceivedOptions {
  unseen?: boolean
  markSeen?: boolean
}

/**
 * The path of the shared entry, as users type it. If the path is unknown, or the share has several
 * entries, its name.
 */
function shownPath({
  entry,
  fileName,
  entryCount,
}: {
  entry: SharedEntryFragment | null
  fileName: string
  entryCount: number
}): string {
  if (!entry || entryCount > 1) return fileName
  const path = entry.path.replace(/^\//, '')
  return 'slug' in entry.drive.owner ? `${entry.drive.owner.slug}:/${path}` : `/${path}`
}

const readPassword = async (wanted: boolean | undefined, { patience }: Context) =>
  wanted ? { password: await readSecret('Password of the share: ', patience.signal) } : {}

const termsOf = async (
  { password, label, title, message, viewOnly, notifyMe: notifies }: Terms,
  context: Context,
) => ({
  label,
  title,
  message,
  notifies,
  allowDownload: viewOnly ? false : undefined,
  ...(await readPassword(password, context)),
})

/** The places of some paths, without duplicates. */
async function findPlaces(service: Service, paths: string[]) {
  const places = new Map<string, { place: Place; path: string; shown: string }>()
  for (const text of paths) {
    const { place, path } = await findPlace(service, text.normalize('NFC'))
    const shown = place.show(path)
    places.set(shown, { place, path, shown })
  }
  return [...places.values()]
}

export async function share(
  context: Context,
  paths: string[],
  options: ShareOptions,
): Promise<Answer> {
  const service = await open(context)
  const named = await findPlaces(service, paths)
  const {
    with: email,
    link = false,
    for: duration,
    maxDownloads,
    notify = false,
    message,
    together = false,
    edit,
  } = options
  if (link === (email !== undefined))
    throw new Failure(
      'USAGE',
      'Name a person by --with, or make a link by --link. See satchel share --help.',
    )
  if (link && (notify || together || edit))
    throw new Failure(
      'USAGE',
      'A link is for everyone who has it. Leave --notify, --together and --edit out.',
    )
  if (!link && maxDownloads !== undefined)
    throw new Failure(
      'USAGE',
      'Downloads are limited for links. Add --link, or leave --max-downloads out.',
    )
  const terms = await termsOf(options, context)
  const entries = await Promise.all(named.map(({ place, path }) => place.at(path)))
  const client = named[0]?.place.client ?? service.personal
  if (email === undefined) {
    const input = { entries, duration, maxDownloads: maxDownloads ?? null, ...terms }
    const { token, url, expiresAt } = (await client.change(QuickShareDocument, input)).share
    const paths = named.map(({ shown }) => shown)
    return {
      fact: { paths, sharingToken: token, sharingLink: url, expiresAt },
      words: await linkLines([url], options.qr),
    }
  }
  const how = { together, sendEmail: notify || message !== undefined, mayEdit: edit }
  const input = { entries, email, duration, ...how, ...terms }
  const { shares: made, mail } = await client.change(ShareDocument, input)
  // Either one share per file, in the same order, or one share for all.
  const shares = made.map(({ fileName, recipient, token, url, expiresAt }, i) => ({
    path: together ? fileName : (named[i]?.shown ?? fileName),
    sharedFor: recipient,
    sharingToken: token,
    sharingLink: url,
    expiresAt,
  }))
  return {
    fact: { shares, notificationStatus: wordOf(mail) },
    words: await linkLines(
      shares.map(({ sharingLink }) => sharingLink),
      options.qr,
    ),
  }
}

export async function quickShare(
  context: Context,
  text: string,
  options: QuickShareOptions,
): Promise<Answer> {
  const service = await open(context)
  const { place, path } = await findPlace(service, text)
  const { for: duration, maxDownloads = null } = options
  const terms = await termsOf(options, context)
  const input = { entries: [await place.at(path)], duration, maxDownloads, ...terms }
  const { token, url, expiresAt } = (await place.client.change(QuickShareDocument, input)).share
  return {
    fact: { path: place.show(path), sharingToken: token, sharingLink: url, expiresAt },
    words: await linkLines([url], options.qr),
  }
}

const shown = (path: string, share: ShareRowFragment) => ({
  path,
  entryCount: share.entryCount,
  sharingToken: share.token,
  sharingLink: share.url,
  fileType: share.contentType,
  size: share.size,
  md5Checksum: share.md5,
  sharedBy: share.sharedBy.email,
  sharedFor: 'recipient' in share ? share.recipient : '',
  createdAt: share.createdAt,
  expiresAt: share.expiresAt,
  seen: 'seen' in share && share.seen,
  passwordProtected: share.passwordProtected,
  downloads: share.downloads,
  maxDownloads: share.maxDownloads,
  label: share.label,
  allowDownload: share.allowDownload,
  mayEdit: 'mayEdit' in share && share.mayEdit,
})

export async function shares(context: Context): Promise<Answer> {
  const { personal } = await open(context)
  const all = await allPages(
    async after => (await personal.request(SharesDocument, { after })).me.shares,
  )
  const lines = all.map(line => shown(shownPath(line), line))
  const rows = lines.map(s => [
    s.path,
    s.sharedFor || 'anyone with the link',
    until(s.expiresAt),
    `${s.downloads}${s.maxDownloads === null ? '' : ` of ${s.maxDownloads}`}`,
    [
      s.passwordProtected ? 'password' : '',
      s.allowDownload ? '' : 'view only',
      s.mayEdit ? 'may edit' : '',
    ]
      .filter(Boolean)
      .join(', '),
    s.label,
    s.sharingLink,
  ])
  const head = ['FILE', 'WITH', 'UNTIL', 'DOWNLOADS', '', 'LABEL', 'LINK']
  return { fact: { shares: lines }, words: rows.length > 0 ? linkTable(head, rows) : '' }
}

export async function edit(context: Context, link: string, options: EditOptions): Promise<Answer> {
  const { personal, url } = await open(context)
  const token = ownToken(link, url)
  const {
    label,
    title,
    message,
    expires: duration,
    limit,
    download,
    edit: mayEdit,
    notifyMe: notifies,
  } = options
  const secret =
    options.password === false ? { password: null } : await readPassword(options.password, context)
  const bound = limit === undefined ? {} : { maxDownloads: limit || null }
  // Editing includes downloading; view-only excludes editing.
  const rights = {
    allowDownload: mayEdit ? true : download,
    mayEdit: download === false ? false : mayEdit,
  }
  const terms = { label, title, message, duration, notifies, ...rights, ...bound, ...secret }
  if (Object.values(terms).every(value => value === undefined))
    throw new Failure('USAGE', 'Give at least one option to change. See satchel links edit --help.')
  const { share } = await personal.change(UpdateShareDocument, { share: { token }, ...terms })
  return { fact: shown(shownPath(share), share), words: plain(share.url) }
}

export async function revoke(context: Context, links: string[]): Promise<Answer> {
  const { personal, url } = await open(context)
  const { done, failures } = await withEach(links, async link => {
    const token = ownToken(link, url)
    await personal.change(RevokeDocument, { share: { token } })
    return token
  })
  return { fact: { revoked: done }, words: '', failures }
}

export async function received(
  context: Context,
  { unseen = false, markSeen = false }: ReceivedOptions,
): Promise<Answer> {
  const { personal } = await open(context)
  const wanted = unseen ? false : null
  const all = await allPages(
    async after =>
      (await personal.request(ReceivedDocument, { seen: wanted, after })).me.receivedShares,
  )
  const lines = all.map(line => shown(line.fileName, line))
  if (markSeen)
    for (const { sharingToken: token, seen } of lines)
      if (!seen) await personal.change(MarkSeenDocument, { share: { token } }, 'repeatable')
  const rows = lines.map(s => [
    s.seen ? '' : 'new',
    s.path,
    s.sharedBy,
    bytes(s.size),
    until(s.expiresAt),
    s.mayEdit ? 'may edit' : '',
    s.sharingLink,
  ])
  const head = ['', 'FILE', 'FROM', 'SIZE', 'UNTIL', '', 'LINK']
  return { fact: { shares: lines }, words: rows.length > 0 ? linkTable(head, rows) : '' }
}
