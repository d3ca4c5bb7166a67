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
import { allPages } from '../pages.ts'
import { ownToken, parseRemote } from '../path.ts'
import { readSecret } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, linkTable, when } from '../table.ts'
import { plain } from '../text.ts'
import { wordOf } from '../words.ts'

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
  const own = [...new Set(paths.map(text => ownPath(text).normalize('NFC')))]
  const { with: email, for: duration, notify: sendEmail = false, password } = options
  const secret = await readPassword(password, context)
  const files = own.map(path => ({ at: { path } }))
  const input = { files, email, duration, sendEmail, ...secret }
  const { shares: made, mail } = await service.personal.change(ShareDocument, input)
  // One for each file, in the same order.
  const shares = made.map(({ fileName, recipient, token, url, expiresAt }, i) => ({
    path: `/${own[i] ?? fileName}`,
    sharedFor: recipient,
    sharingToken: token,
    sharingLink: url,
    expiresAt,
  }))
  return {
    fact: { shares, notificationStatus: wordOf(mail) },
    words: shares.map(({ sharingLink }) => plain(sharingLink)).join('\n'),
  }
}

export async function quickShare(context: Context, text: string, options: QuickShareOptions): Promise<Answer> {
  const service = await open(context)
  const path = ownPath(text)
  const { for: duration, maxDownloads = null, password } = options
  const secret = await readPassword(password, context)
  const input = { file: { at: { path } }, duration, maxDownloads, ...secret }
  const { token, url, expiresAt } = (await service.personal.change(QuickShareDocument, input)).share
  return { fact: { path: `/${path}`, sharingToken: token, sharingLink: url, expiresAt }, words: plain(url) }
}

const shown = (path: string, share: ShareRowFragment) => ({
  path,
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
})

export async function shares(context: Context): Promise<Answer> {
  const { personal } = await open(context)
  const all = await allPages(async after => (await personal.request(SharesDocument, { after })).me.shares)
  const lines = all.map(line => shown(line.file ? `/${line.file.path}` : line.fileName, line))
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
    async after => (await personal.request(ReceivedDocument, { seen: wanted, after })).me.receivedShares,
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
    when(s.expiresAt),
    s.sharingLink,
  ])
  const head = ['', 'FILE', 'FROM', 'SIZE', 'UNTIL', 'LINK']
  return { fact: { shares: lines }, words: rows.length > 0 ? linkTable(head, rows) : '' }
}
