import { formatMoment, formatNumber } from '../i18n/format.ts'
import { formatRelative } from '../i18n/times.ts'
import type { Share } from './documents.ts'
import { text } from './text.ts'

/** The title of a share: the name of its only or first entry. */
export const nameOf = ({
  fileName,
  firstName,
  entryCount,
}: Pick<Share, 'fileName' | 'firstName' | 'entryCount'>): string =>
  entryCount > 1 ? text('andMore', { name: firstName, count: entryCount - 1 }) : fileName

export type State = 'live' | 'expired' | 'used-up'

/** Whether a share is still active, according to the loaded data. */
export const stateOf = ({ expiresAt, downloads, maxDownloads }: Share): State =>
  maxDownloads !== null && downloads >= maxDownloads
    ? 'used-up'
    : expiresAt !== null && Date.parse(expiresAt) <= Date.now()
      ? 'expired'
      : 'live'

/** When a share expires, or why it has ended. */
export function endOf(share: Share): string {
  const state = stateOf(share)
  if (state === 'used-up') return text('usedUp')
  if (share.expiresAt === null) return text('endsNever')
  return text(state === 'live' ? 'endsWhen' : 'expired', { when: formatRelative(share.expiresAt) })
}

/** The number of downloads and its limit. */
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

/** The last use of a share; null if no details are known. */
export function lastUseOf(share: Share): string | null {
  const last = share.events?.nodes[0]
  if (last) return text(lastly[last.kind], { when: formatRelative(last.happenedAt) })
  if (share.__typename === 'DirectShare' && share.seen) return text('seen')
  return share.downloads === 0 ? text('unopened') : null
}

export const madeWhen = ({ createdAt }: Share): string =>
  text('made', { when: formatMoment(createdAt) })
