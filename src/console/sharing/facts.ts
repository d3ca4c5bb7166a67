import { formatMoment, formatNumber } from '../i18n/format.ts'
import { formatRelative } from '../i18n/times.ts'
import type { Share } from './documents.ts'
import { text } from './text.ts'

/** What a share is called: by its entry, or by the first of several. */
export const nameOf = ({
  fileName,
  firstName,
  entryCount,
}: Pick<Share, 'fileName' | 'firstName' | 'entryCount'>): string =>
  entryCount > 1 ? text('andMore', { name: firstName, count: entryCount - 1 }) : fileName

export type State = 'live' | 'expired' | 'used-up'

/** Whether a share still opens, as far as this page knows. */
export const stateOf = ({ expiresAt, downloads, maxDownloads }: Share): State =>
  maxDownloads !== null && downloads >= maxDownloads
    ? 'used-up'
    : expiresAt !== null && Date.parse(expiresAt) <= Date.now()
      ? 'expired'
      : 'live'

/** Until when a share opens, or why it does not. */
export function endOf(share: Share): string {
  const state = stateOf(share)
  if (state === 'used-up') return text('usedUp')
  if (share.expiresAt === null) return text('endsNever')
  return text(state === 'live' ? 'endsWhen' : 'expired', { when: formatRelative(share.expiresAt) })
}

/** How often it was downloaded, and of how many times. */
export const downloadsOf = ({ downloads, maxDownloads }: Share): string =>
  maxDownloads === null
    ? text('downloads', { count: downloads, shown: formatNumber(downloads) })
    : text('downloadsOf', {
        count: maxDownloads,
        shown: formatNumber(downloads),
        most: formatNumber(maxDownloads),
      })

const lastly = {
  OPENED: 'lastOpened',
  DOWNLOADED: 'lastDownloaded',
  REFUSED: 'lastRefused',
} as const

/** How it was used last; null for a use of which nothing more is known (yet). */
export function lastUseOf(share: Share): string | null {
  const last = share.events?.nodes[0]
  if (last) return text(lastly[last.kind], { when: formatRelative(last.happenedAt) })
  if (share.__typename === 'DirectShare' && share.seen) return text('seen')
  return share.downloads === 0 ? text('unopened') : null
}

export const madeWhen = ({ createdAt }: Share): string =>
  text('made', { when: formatMoment(createdAt) })
