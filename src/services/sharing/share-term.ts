import { NEVER, type Share } from '../../../db/models/share.ts'
import type { Caller } from '../../access/caller.ts'
import { mayUsePrivateFiles } from '../../access/scopes.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { MAX_DOWNLOADS, MAX_LABEL } from '../../values/limits.ts'
import { oneLine } from '../../values/one-line.ts'
import { parseMessage } from '../notices/mail-message.ts'
import { givenOf, parseBound, parseExpiry } from './link-term.ts'

/**
 * The terms of a share from the client. Undefined fields stay unchanged or get their default. Null
 * removes a password or a limit.
 */
export interface ShareInput {
  label?: string | null | undefined
  /** The heading of the page. Empty for the name of what is shared. */
  title?: string | null | undefined
  /** The message on the page. */
  message?: string | null | undefined
  /** A duration, or `never`. */
  duration?: string | null | undefined
  password?: string | null | undefined
  maxDownloads?: number | null | undefined
  allowDownload?: boolean | null | undefined
  /** Whether the recipient may edit the shared entries. Only for a share with one person. */
  mayEdit?: boolean | null | undefined
  notifies?: boolean | null | undefined
}

/** The validated terms, without the password, whose hash is expensive. */
export type ShareTerms = Pick<
  Share,
  | 'label'
  | 'title'
  | 'message'
  | 'maxDownloads'
  | 'allowDownload'
  | 'mayEdit'
  | 'notifies'
  | 'expiresAt'
>

/** The default terms, except for the expiry. */
export const defaultTerms = {
  label: '',
  title: '',
  message: '',
  maxDownloads: null,
  allowDownload: true,
  mayEdit: false,
  notifies: false,
  expiresAt: NEVER,
} satisfies ShareTerms

/** The expiry of a share. Null if it never expires. */
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
  const { label, title, message, duration, maxDownloads, allowDownload, mayEdit, notifies } = input
  return givenOf({
    label: label === undefined ? undefined : parseLabel(label ?? '', 'label'),
    title: title === undefined ? undefined : parseLabel(title ?? '', 'title'),
    message: message === undefined ? undefined : parseMessage(message ?? ''),
    expiresAt: duration ? (parseExpiry(duration, now) ?? NEVER) : undefined,
    maxDownloads: parseBound(maxDownloads, 'max_downloads', MAX_DOWNLOADS),
    allowDownload: allowDownload ?? undefined,
    mayEdit: mayEdit ?? undefined,
    notifies: notifies ?? undefined,
  })
}

/**
 * Requires the right to edit of a caller who grants it: a key that may only share must not let
 * others do more.
 * @throws INSUFFICIENT_SCOPE
 */
export function mayLetEdit(caller: Caller, { mayEdit }: Partial<ShareTerms>): void {
  // From workspaces, people share only in sessions, by their role.
  if (mayEdit && caller.via === 'api_key')
    for (const level of ['write', 'delete'] as const) mayUsePrivateFiles(caller, level)
}

/**
 * Refuses a right to edit that the recipient could not use, or that unknown people would have.
 * @throws INVALID_INPUT
 */
export function requireEditable({
  recipient,
  allowDownload,
  mayEdit,
  passwordHash,
  entryCount = null,
}: {
  recipient: string | null
  allowDownload: boolean | number
  mayEdit: boolean | number
  passwordHash: string | null
  entryCount?: number | null
}): void {
  if (!mayEdit) return
  const refuse = (why: string) => new InvalidInput('may_edit', why)
  if (entryCount !== null)
    throw refuse(
      'Several entries behind one share are for looking and downloading. Share the folder that is to be edited.',
    )
  if (recipient === null)
    throw refuse('Links cannot give the right to edit. Share with a person instead.')
  if (!allowDownload) throw refuse('Editors may always download. Allow both, or neither.')
  if (passwordHash !== null)
    throw refuse('Editors sign in and need no password. Remove the password.')
}

function parseLabel(text: string, field: 'label' | 'title'): string {
  const label = oneLine(text)
  if (label.length > MAX_LABEL)
    throw new InvalidInput(field, `A ${field} has up to ${MAX_LABEL} characters.`)
  return label
}
