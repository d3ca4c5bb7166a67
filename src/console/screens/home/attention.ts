import { formatMoment } from '../../i18n/format.ts'
import type { HomeData } from './documents.ts'
import { text } from './text.ts'

export interface Notice {
  id: string
  message: string
  /** The screen that deals with the notice. */
  to: string
}

const DAY_MS = 86_400_000
/** How long before its expiry the notice appears. */
const SHARE_MS = 3 * DAY_MS
const KEY_MS = 14 * DAY_MS
/** How long received files count as new. */
const ARRIVED_MS = 3 * DAY_MS

const endsWithin = (expiresAt: string | null, within: number): expiresAt is string =>
  expiresAt !== null &&
  Date.parse(expiresAt) > Date.now() &&
  Date.parse(expiresAt) < Date.now() + within

/** Things that need the person's attention, most urgent first. */
export function noticesOf(me: HomeData): Notice[] {
  const notices: Notice[] = []
  if (me.drive.usage.isOver) notices.push({ id: 'over', message: text('over'), to: '/account' })
  for (const { id, workspaceName } of me.invites?.nodes ?? [])
    notices.push({ id, message: text('invite', { name: workspaceName }), to: '/workspaces' })
  for (const { id, label, receipts } of me.fileRequests.nodes) {
    const [last] = receipts.nodes
    if (last && Date.parse(last.receivedAt) > Date.now() - ARRIVED_MS)
      notices.push({ id, message: text('arrived', { name: label }), to: '/requests' })
  }
  for (const { id, url, state, firstFailedAt } of me.webhooks ?? [])
    if (state === 'DISABLED' || firstFailedAt !== null) {
      const { host } = new URL(url)
      notices.push({
        id,
        message: text(state === 'DISABLED' ? 'hookOff' : 'hookFails', { host }),
        to: '/account/webhooks',
      })
    }
  for (const { id, name, expiresAt } of me.apiKeys?.nodes ?? [])
    if (endsWithin(expiresAt, KEY_MS))
      notices.push({
        id,
        message: text('keyEnds', { name, when: formatMoment(expiresAt) }),
        to: '/account/keys',
      })
  for (const { id, fileName, expiresAt } of me.shares.nodes)
    if (endsWithin(expiresAt, SHARE_MS))
      notices.push({
        id,
        message: text('shareEnds', { name: fileName, when: formatMoment(expiresAt) }),
        to: '/links',
      })
  return notices
}
