import { NEVER, type Share } from '../../../db/models/share.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { MAX_DOWNLOADS, MAX_LABEL } from '../../values/limits.ts'
import { oneLine } from '../../values/one-line.ts'
import { givenOf, parseBound, parseExpiry } from './link-term.ts'

/** The terms of a share as they are given. What is undefined is not changed, or has its default; null takes a password or a limit away. */
export interface ShareInput {
  label?: string | null | undefined
  /** A duration, or `never`. */
  duration?: string | null | undefined
  password?: string | null | undefined
  maxDownloads?: number | null | undefined
  allowDownload?: boolean | null | undefined
  notifies?: boolean | null | undefined
}

/** The same, checked; but for the password, which costs a hash. */
export type ShareTerms = Pick<Share, 'label' | 'maxDownloads' | 'allowDownload' | 'notifies' | 'expiresAt'>

/** The terms of a share of which nothing is said, but for its end. */
export const defaultTerms = {
  label: '',
  maxDownloads: null,
  allowDownload: true,
  notifies: false,
  expiresAt: NEVER,
} satisfies ShareTerms

/** When a share ends; null when it never does. */
export const endOf = ({ expiresAt }: Pick<Share, 'expiresAt'>): number | null =>
  expiresAt === NEVER ? null : expiresAt

export const isLive = ({
  expiresAt,
  downloads,
  maxDownloads,
}: Pick<Share, 'expiresAt' | 'downloads' | 'maxDownloads'>): boolean =>
  expiresAt > Date.now() && (maxDownloads === null || downloads < maxDownloads)

/** @throws INVALID_INPUT, INVALID_DURATION */
export function parseTerms(input: ShareInput, now: number): Partial<ShareTerms> {
  const { label, duration, maxDownloads, allowDownload, notifies } = input
  return givenOf({
    label: label === undefined ? undefined : parseLabel(label ?? ''),
    expiresAt: duration ? (parseExpiry(duration, now) ?? NEVER) : undefined,
    maxDownloads: parseBound(maxDownloads, 'max_downloads', MAX_DOWNLOADS),
    allowDownload: allowDownload ?? undefined,
    notifies: notifies ?? undefined,
  })
}

function parseLabel(text: string): string {
  const label = oneLine(text)
  if (label.length > MAX_LABEL) throw new InvalidInput('label', `A label has up to ${MAX_LABEL} characters.`)
  return label
}
