import { v4 as newSender } from 'uuid'
import { z } from 'zod'
import { findRequest, type LinkedRequest } from '../../../db/queries/file-request.ts'
import { type ReceiptRow, sentBy } from '../../../db/queries/file-request-upload.ts'
import type { Origin } from '../../access/caller.ts'
import type { GuessLimiter } from '../../access/guessing.ts'
import type { Passwords } from '../../access/password.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { hashSecret } from '../../runtime/tokens.ts'
import { DAY_MS } from '../../values/duration.ts'
import { MAX_SENDER_NAME } from '../../values/limits.ts'
import { oneLine } from '../../values/one-line.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import type { ShareUser } from '../history/share-event.ts'
import { pathsOfFolders } from '../tree/entry-path.ts'
import { FILE_REQUEST_TOKEN } from './file-request.ts'
import { kindsOf, requestClosed, requestNotFound } from './file-request-term.ts'
import { linkPasswords } from './link-password.ts'

/**
 * The details that anyone with the link may know: no address, no folder, and nothing about other
 * senders.
 */
export interface RequestInfo {
  label: string
  message: string
  /** The name of the person who made the request. */
  askedBy: string
  /** Null if it never expires. */
  expiresAt: number | null
  passwordProtected: boolean
  asksName: boolean
  /** The accepted extensions and media types. Empty if all files are accepted. */
  kinds: string[]
  maxFileBytes: number
  isFull: boolean
}

/** An open request and its folder. */
export interface OpenRequest {
  request: LinkedRequest
  tree: Tree
  /** The names from the root down to the folder. */
  names: string[]
  /** The limits for what senders may reserve in the drive. */
  limits: BucketLimits
}

/** One browser or program, identified by its sealed token. */
export interface SenderIdentity {
  id: string
  name: string
}

/**
 * The sender of files. The sender's token is required if the request asks for a password or a name.
 */
export interface SenderVisit extends ShareUser {
  sender?: string | null | undefined
  from?: Origin | undefined
}

const PURPOSE = 'file-request-sender'
const SENDER_SECONDS = (7 * DAY_MS) / 1000
const sealedSender = z.object({
  request: z.string(),
  sender: z.string(),
  name: z.string(),
  password: z.string(),
})
/**
 * Senders fill a drive only up to this part of its quota, so that its owner can continue to work.
 */
const SHARE_OF_DRIVE = 0.9
/** The maximum number of sent files that the page shows to a sender. */
const MAX_SENT = 1000

interface Deps extends Core<'db' | 'tokens'> {
  guesses: GuessLimiter
  passwords: Passwords
}

/** Opens file requests by the tokens of their links, for senders. */
export function fileRequestLinkService({ db, tokens, guesses, passwords }: Deps) {
  const protection = linkPasswords({ tokens, guesses, passwords, purpose: 'file-request-pass' })

  const digestOf = ({ passwordHash }: LinkedRequest) =>
    passwordHash === null ? '' : hashSecret(passwordHash).toString('base64url')

  const seal = (request: LinkedRequest, { id, name }: SenderIdentity): string =>
    tokens.seal(
      PURPOSE,
      { request: request.id, sender: id, name, password: digestOf(request) },
      SENDER_SECONDS,
    )

  /** The sender in a token. Null if the token belongs to another request or password. */
  function senderOf(
    request: LinkedRequest,
    token: string | null | undefined,
  ): SenderIdentity | null {
    const opened = tokens.open(sealedSender, PURPOSE, token)
    if (opened?.request !== request.id || opened.password !== digestOf(request)) return null
    return { id: opened.sender, name: opened.name }
  }

  /** @throws FILE_REQUEST_NOT_FOUND, FILE_REQUEST_CLOSED */
  async function open(token: string): Promise<OpenRequest> {
    const id = tokens.read(FILE_REQUEST_TOKEN, token)
    const request = id ? await findRequest(db, id) : undefined
    if (!request) throw requestNotFound()
    const isOver = request.expiresAt !== null && request.expiresAt <= Date.now()
    if (request.closedAt !== null || isOver || !request.mayWrite) throw requestClosed()
    const { bucketId, rootId, workspaceId, maxFolders, folderId } = request
    const names = (await pathsOfFolders(db, [rootId], [folderId])).get(folderId)
    if (!names) throw requestClosed()
    const { maxFileSizeBytes, maxTotalStorageBytes, maxDriveFiles, maxFileBytes } = request
    return {
      request,
      tree: {
        bucketId,
        rootId,
        maxFolders,
        ...(workspaceId === null ? {} : { front: '/' as const }),
      },
      names,
      limits: {
        maxFileSizeBytes: Math.min(maxFileSizeBytes, maxFileBytes ?? maxFileSizeBytes),
        maxTotalStorageBytes: Math.floor(maxTotalStorageBytes * SHARE_OF_DRIVE),
        maxFiles: maxDriveFiles === null ? null : Math.floor(maxDriveFiles * SHARE_OF_DRIVE),
      },
    }
  }

  const infoOf = ({ request, limits }: OpenRequest): RequestInfo => ({
    label: request.label,
    message: request.message,
    askedBy: request.makerName,
    expiresAt: request.expiresAt,
    passwordProtected: request.passwordHash !== null,
    asksName: Boolean(request.asksName),
    kinds: kindsOf(request.kinds),
    maxFileBytes: limits.maxFileSizeBytes,
    isFull:
      (request.maxFiles !== null && request.files >= request.maxFiles) ||
      (request.maxBytes !== null && request.bytes >= request.maxBytes),
  })

  return {
    open,
    seal,

    /** @throws FILE_REQUEST_NOT_FOUND, FILE_REQUEST_CLOSED */
    info: async (token: string): Promise<RequestInfo> => infoOf(await open(token)),

    /**
     * A request as its page shows it to one sender: the sender, if known, and the files they have
     * sent.
     */
    async page(
      token: string,
      sender: string | null | undefined,
    ): Promise<{ info: RequestInfo; sender: SenderIdentity | null; sent: ReceiptRow[] }> {
      const opened = await open(token)
      const known = senderOf(opened.request, sender)
      const sent = known ? await sentBy(db, opened.request.id, known.id, MAX_SENT) : []
      return { info: infoOf(opened), sender: known, sent }
    },

    /**
     * A sealed token for a sender who gives the required password and name. With an earlier token,
     * the sender keeps their identity.
     * @throws FILE_REQUEST_NOT_FOUND, FILE_REQUEST_CLOSED, PASSWORD_REQUIRED, WRONG_PASSWORD,
     * TOO_MANY_ATTEMPTS, INVALID_INPUT
     */
    async enter(
      token: string,
      visit: SenderVisit & {
        password?: string | null | undefined
        name?: string | null | undefined
      },
    ): Promise<string> {
      const { request } = await open(token)
      const known = senderOf(request, visit.sender)
      if (!known) await protection.check(request, visit)
      const name = oneLine(visit.name ?? '') || known?.name || ''
      if (name.length > MAX_SENDER_NAME)
        throw new InvalidInput('name', `A name has up to ${MAX_SENDER_NAME} characters.`)
      if (request.asksName && name === '')
        throw new InvalidInput(
          'name',
          'Enter your name: the person who asks for files wants to know who sends them.',
        )
      return seal(request, { id: known?.id ?? newSender(), name: request.asksName ? name : '' })
    },

    /**
     * Identifies the sender by their token, or creates a new sender if nothing is required.
     * @throws PASSWORD_REQUIRED, INVALID_INPUT
     */
    identify(request: LinkedRequest, { sender }: SenderVisit): SenderIdentity {
      const known = senderOf(request, sender)
      if (known) return known
      if (request.passwordHash !== null)
        throw new AppError('PASSWORD_REQUIRED', 'This link is protected. Enter its password first.')
      if (request.asksName)
        throw new InvalidInput(
          'name',
          'Enter your name first: the person who asks for files wants to know it.',
        )
      return { id: newSender(), name: '' }
    },
  }
}

export type FileRequestLinkService = ReturnType<typeof fileRequestLinkService>
