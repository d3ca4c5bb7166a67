import { withEach } from '../each.ts'
import { Failure } from '../failure.ts'
import {
  MarkSeenDocument,
  QuickShareDocument,
  ReceivedDocument,
  RevokeDocument,
  ShareDocument,
  type ShareRowFragment,
  SharesDocument,
} from '../generated.ts'
import { ownToken, parseRemote } from '../path.ts'
import { allPages, PAGE } from '../place.ts'
import { readSecret } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, linkTable, when } from '../table.ts'
import { plain } from '../text.ts'

export interface ShareOptions {
  with: string
  for: string
  notify?: boolean
  password?: boolean
}

export interface QuickShareOptions {
  for: string
  maxDownloads?: number
  password?: boolean
}

export interface ReceivedOptions {
  unseen?: boolean
  markSeen?: boolean
}

/** The path of an own file. @throws USAGE for files of workspaces, which cannot be shared */
function ownPath(text: string): string {
  const { workspace, path } = parseRemote(text)
  if (workspace !== undefined)
    throw new Failure('USAGE', `Files of a workspace cannot be shared: invite people to ${workspace}.`)
  return path
}

const readPassword = async (wanted: boolean | undefined, { patience }: Context) =>
  wanted ? { password: await readSecret('Password of the share: ', patience.signal) } : {}

export async function share(context: Context, paths: string[], options: ShareOptions): Promise<Answer> {
  const service = await open(context)
  const objects = paths.map(ownPath)
  const { with: email, for: duration, notify: sendEmail = false, password } = options
  const secret = await readPassword(password, context)
  const { shareFiles } = await service.personal.request(ShareDocument, {
    input: { email, objects, duration, sendEmail, ...secret },
  })
  const shares = shareFiles.sharingInfo.map(({ file, ...info }) => ({ path: `/${file}`, ...info }))
  return {
    fact: { shares, notificationStatus: shareFiles.notificationStatus },
    words: shares.map(({ sharingLink }) => plain(sharingLink)).join('\n'),
  }
}

export async function quickShare(context: Context, text: string, options: QuickShareOptions): Promise<Answer> {
  const service = await open(context)
  const object = ownPath(text)
  const { for: duration, maxDownloads = null, password } = options
  const secret = await readPassword(password, context)
  const { createPublicShare } = await service.personal.request(QuickShareDocument, {
    input: { object, duration, maxDownloads, ...secret },
  })
  return { fact: { path: `/${object}`, ...createPublicShare }, words: plain(createPublicShare.sharingLink) }
}

const shown = ({ fileName, ...line }: ShareRowFragment) => ({ path: `/${fileName}`, ...line })

export async function shares(context: Context): Promise<Answer> {
  const { personal } = await open(context)
  const pages = await allPages(
    async cursor => (await personal.request(SharesDocument, { limit: PAGE, cursor })).sentShares,
  )
  const lines = pages.flatMap(page => page.files).map(shown)
  const rows = lines.map(s => [
    s.path,
    s.sharedFor || 'anyone with the link',
    when(s.expiresAt),
    `${s.downloads}${s.maxDownloads === null ? '' : ` of ${s.maxDownloads}`}`,
    s.passwordProtected ? 'password' : '',
    s.sharingLink,
  ])
  const head = ['FILE', 'WITH', 'UNTIL', 'DOWNLOADS', '', 'LINK']
  return { fact: { shares: lines }, words: rows.length > 0 ? linkTable(head, rows) : '' }
}

export async function revoke(context: Context, links: string[]): Promise<Answer> {
  const { personal, url } = await open(context)
  const { done, failures } = await withEach(links, async link => {
    const token = ownToken(link, url)
    await personal.request(RevokeDocument, { input: { token } })
    return token
  })
  return { fact: { revoked: done }, words: '', failures }
}

export async function received(
  context: Context,
  { unseen = false, markSeen = false }: ReceivedOptions,
): Promise<Answer> {
  const { personal } = await open(context)
  const pages = await allPages(
    async cursor => (await personal.request(ReceivedDocument, { limit: PAGE, cursor })).receivedShares,
  )
  const lines = pages
    .flatMap(page => page.files)
    .filter(({ seen }) => !(unseen && seen))
    .map(shown)
  if (markSeen)
    for (const { sharingToken, seen } of lines)
      if (!seen) await personal.request(MarkSeenDocument, { input: { sharingToken } }, 'repeatable')
  const rows = lines.map(s => [
    s.seen ? '' : 'new',
    s.path,
    s.sharedBy,
    bytes(s.size),
    when(s.expiresAt),
    s.sharingLink,
  ])
  const head = ['', 'FILE', 'FROM', 'SIZE', 'UNTIL', 'LINK']
  return { fact: { shares: lines }, words: rows.length > 0 ? linkTable(head, rows) : '' }
}
