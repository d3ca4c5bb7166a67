import { validate as isUuid } from 'uuid'
import { InvalidInput } from '../src/runtime/errors.ts'
import type { ShareView } from '../src/services/sharing/share-list.ts'
import {
  figure,
  MAX_CHANGED,
  MAX_DOWNLOADS,
  MAX_LABEL,
  MAX_MESSAGE,
  MAX_PASSWORD,
  MAX_SHARED_FILES,
} from '../src/values/limits.ts'
import { builder, type InputFields, type ObjectFields } from './builder.ts'
import type { Context } from './context.ts'
import { isFolder } from './entry.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { MailStatus } from './enums.ts'
import { mutation } from './mutation.ts'
import { Entry, File } from './refs.ts'
import { DirectShare, entryIdsOf, LinkShare, Share, sharedEntries, sharedEntry } from './share.ts'
import { viewerField } from './viewer.ts'

const ShareRef = builder.inputType('ShareRef', {
  description: 'A share.',
  isOneOf: true,
  fields: t => ({
    id: t.id({ description: 'Its id.' }),
    token: t.string({ description: 'Its token.' }),
  }),
})

interface Ref {
  id?: string | null | undefined
  token?: string | null | undefined
}

/**
 * The token for a share id, whether or not the share exists. Empty if the id cannot be one of a
 * share.
 */
const tokenOf = ({ services }: Context, { id, token }: Ref): string =>
  id ? (isUuid(id) ? services.shares.tokenOf(id) : '') : (token ?? '')

/** The shared entries, and their drive. */
interface AllShared {
  entryIds: readonly string[]
  bucketId: string
}

interface Shared extends AllShared {
  /** The first of several entries. */
  entryId: string
}

/** The payload field with the shared file of the caller. */
const fileField = <Payload extends Shared>(t: ObjectFields<Payload>) =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: File,
    nullable: true,
    description: 'The file as it is now; null if a folder is shared.',
    resolve: async (payload, _args, context) => {
      const entry = await sharedEntry(payload, context)
      return isFolder(entry) ? null : entry
    },
  })

/** Like `fileField`, for files and folders. */
const entryField = <Payload extends Shared>(t: ObjectFields<Payload>) =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Entry,
    nullable: true,
    description: 'The file or folder as it is now; the first of several.',
    resolve: (payload, _args, context) => sharedEntry(payload, context),
  })

/** @param sizedBy the argument whose list is as long */
const entriesField = <Payload extends AllShared>(t: ObjectFields<Payload>, sizedBy?: string) =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: [Entry],
    nullable: true,
    listSize: MAX_SHARED_FILES,
    ...(sizedBy ? { sizedBy } : {}),
    description: 'The files and folders as they are now.',
    resolve: (payload, _args, context) => sharedEntries(payload, context),
  })

/** A share of the caller in a payload. */
const shown = async (share: ShareView, context: Context) => ({
  share,
  entryId: share.entryId,
  entryIds: await entryIdsOf(share, context),
  bucketId: share.bucketId,
})

/** The terms of a share that can be set when it is created, and changed later. */
const terms = (t: InputFields) => ({
  label: t.string({
    description: `A name for the share that only its sharer sees: up to ${MAX_LABEL} characters.`,
  }),
  title: t.string({
    description: `The heading of its page, instead of the name of the shared entry: up to ${MAX_LABEL} characters.`,
  }),
  message: t.string({
    description: `A message on its page and in the mail to the recipient, up to ${figure(MAX_MESSAGE)} characters.`,
  }),
  duration: t.string({
    description:
      'How long the share is valid from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never. By default 24h for a new link (LINK_DURATION) and 7d for a new share with a person.',
  }),
  password: t.string({ description: `1 to ${MAX_PASSWORD} characters.` }),
  allowDownload: t.boolean({
    description:
      'Whether the files may be downloaded, not only viewed on the page of the share. True by default.',
  }),
  notifies: t.boolean({
    description:
      'Whether its sharer gets mails about its use, at most once an hour. False by default.',
  }),
})

const entriesInput = (t: InputFields) =>
  t.field({
    type: [EntryRef],
    required: true,
    maxItems: MAX_SHARED_FILES,
    description: `1 to ${figure(MAX_SHARED_FILES)} files and folders of one drive.`,
  })

/** @throws INVALID_INPUT */
function requireSome(entries: readonly unknown[]): void {
  if (entries.length === 0)
    throw new InvalidInput(
      'entries',
      `Name 1 to ${figure(MAX_SHARED_FILES)} files and folders to share.`,
    )
}

const mayEdit = (t: InputFields) =>
  t.boolean({
    description:
      'Whether its recipient may edit: in a shared folder, upload, create folders, rename, move, replace and delete; of a shared file, replace the content. Editors may also download, and need no password. False by default.',
  })

const maxDownloads = (t: InputFields) =>
  t.int({
    description: `The maximum number of downloads, 1 to ${figure(MAX_DOWNLOADS)}. Then the share ends.`,
  })

mutation('createLink', {
  description:
    "Creates a link with which everyone can download a file, the content of a folder, or several files and folders of one drive: the caller's own, or one of a workspace where the caller may write.",
  auth: { drive: 'share' },
  fails: [
    'FILE_NOT_FOUND',
    'INVALID_PATH',
    'INVALID_DURATION',
    'INVALID_INPUT',
    'QUOTA_EXCEEDED',
    'RATE_LIMITED',
  ],
  places: { path: 'entries', max_downloads: 'maxDownloads' },
  rateLimit: 'links',
  input: t => ({
    entries: entriesInput(t),
    ...terms(t),
    maxDownloads: maxDownloads(t),
  }),
  on: ({ entries }) => ({ entries, at: 'input.entries' }),
  resolve: async ({ entries: refs, ...input }, context, info) => {
    const { services, caller, drive, tree } = context
    requireSome(refs)
    // Hashing a password is expensive, and all callers share the processor.
    if (input.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    const workspaceId = drive.workspace?.id ?? null
    const entries = refs.map(nameOf)
    const share = await services.shares.create(caller, { tree, workspaceId, entries }, input)
    return shown(share, context)
  },
  payload: t => ({
    share: t.expose('share', { type: LinkShare, description: 'The new link.' }),
    file: fileField(t),
    entry: entryField(t),
    entries: entriesField(t, 'input.entries'),
    viewer: viewerField(t),
  }),
})

mutation('createDirectShare', {
  description:
    'Shares files and folders of one drive with one person: either all of them, or none; as separate shares, or together as one. Sharing again renews the shares. In a workspace, this needs the right to write.',
  auth: { drive: 'share' },
  fails: ['FILE_NOT_FOUND', 'INVALID_PATH', 'INVALID_DURATION', 'INVALID_INPUT', 'RATE_LIMITED'],
  places: { path: 'entries', may_edit: 'mayEdit' },
  rateLimit: 'sharing',
  input: t => ({
    entries: entriesInput(t),
    email: t.string({
      required: true,
      description: 'The person with this verified address receives the files and folders.',
    }),
    ...terms(t),
    mayEdit: mayEdit(t),
    together: t.boolean({
      description:
        'Whether they become one share instead of one share each. A share of several entries cannot be edited. False by default.',
    }),
    sendEmail: t.boolean({ description: 'Whether to notify the recipient by mail.' }),
  }),
  on: ({ entries }) => ({ entries, at: 'input.entries' }),
  resolve: async ({ entries, ...input }, context) => {
    const { services, caller, tree } = context
    requireSome(entries)
    const made = await services.directShares.share(caller, tree, entries.map(nameOf), input)
    const ids = made.shares.map(({ id }) => id)
    const shares = await services.shares.sentAmong(caller, ids)
    const entryIds = (await Promise.all(shares.map(share => entryIdsOf(share, context)))).flat()
    return { shares, mail: made.notificationStatus, entryIds, bucketId: tree.bucketId }
  },
  payload: t => ({
    shares: t.expose('shares', {
      type: [DirectShare],
      description:
        'One share for each file or folder, in the same order; a single one if they are shared together.',
      listSize: MAX_SHARED_FILES,
      sizedBy: 'input.entries',
    }),
    entries: entriesField(t, 'input.entries'),
    mail: t.expose('mail', {
      type: MailStatus,
      description: 'Whether a mail was sent to the recipient.',
    }),
    viewer: viewerField(t),
  }),
})

mutation('updateShare', {
  description:
    'Changes the terms of a share of the caller; its URL stays the same. Omitted terms are not changed; null removes the password or the limit of downloads. A share that has expired or is used up can be renewed for 30 days after it expires.',
  auth: { privateFiles: 'share' },
  fails: [
    'SHARE_NOT_FOUND',
    'FORBIDDEN',
    'INVALID_DURATION',
    'INVALID_INPUT',
    'QUOTA_EXCEEDED',
    'RATE_LIMITED',
  ],
  places: { max_downloads: 'maxDownloads', may_edit: 'mayEdit' },
  rateLimit: 'links',
  input: t => ({
    share: t.field({ type: ShareRef, required: true, description: 'The share.' }),
    ...terms(t),
    mayEdit: mayEdit(t),
    maxDownloads: maxDownloads(t),
  }),
  resolve: async ({ share: ref, ...input }, context, info) => {
    const { services, caller } = context
    if (input.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    const share = await services.shares.update(
      caller,
      tokenOf(context, ref),
      input,
      ref.id ? 'by id' : 'by token',
    )
    return shown(share, context)
  },
  payload: t => ({
    share: t.expose('share', { type: Share, description: 'The share as it is now.' }),
    entry: entryField(t),
    entries: entriesField(t),
    viewer: viewerField(t),
  }),
})

mutation('revokeShare', {
  description: 'Ends a share of the caller permanently.',
  auth: { privateFiles: 'share' },
  goesOn: 'stops a link that others may have',
  fails: ['SHARE_NOT_FOUND', 'FORBIDDEN'],
  input: t => ({ share: t.field({ type: ShareRef, required: true, description: 'The share.' }) }),
  resolve: async ({ share }, context) => {
    const { services, caller } = context
    const { id, ...shared } = await services.shares.end(
      caller,
      tokenOf(context, share),
      share.id ? 'by id' : 'by token',
    )
    return { revokedId: id, ...shared }
  },
  payload: t => ({
    revokedId: t.exposeID('revokedId', { description: 'The id of the share.' }),
    file: fileField(t),
    entry: entryField(t),
    entries: entriesField(t),
    viewer: viewerField(t),
  }),
})

mutation('revokeShares', {
  description:
    'Ends shares of the caller permanently. Skips shares that have ended, and those of others.',
  auth: { privateFiles: 'share' },
  goesOn: 'stops links that others may have',
  fails: [],
  input: t => ({
    shares: t.idList({
      required: true,
      maxItems: MAX_CHANGED,
      description: 'The ids of the shares.',
    }),
  }),
  resolve: async ({ shares }, { services, caller }) => ({
    revokedIds: await services.shareEnds.endAmong(caller, shares),
  }),
  payload: t => ({
    revokedIds: t.exposeIDList('revokedIds', {
      description: 'The ids of the shares that ended now.',
      listSize: MAX_CHANGED,
      sizedBy: 'input.shares',
    }),
    viewer: viewerField(t),
  }),
})

mutation('markShareSeen', {
  description: 'Marks a received share as seen.',
  auth: { privateFiles: 'write' },
  fails: ['SHARE_NOT_FOUND'],
  input: t => ({ share: t.field({ type: ShareRef, required: true, description: 'The share.' }) }),
  resolve: async (input, context) => {
    const { services, caller } = context
    const id = await services.directShares.markSeen(caller, tokenOf(context, input.share))
    const [share = null] = await services.shares.receivedAmong(caller, [id])
    return { seenId: id, share }
  },
  payload: t => ({
    seenId: t.exposeID('seenId', { description: 'The id of the share.' }),
    share: t.withAuth({ privateFiles: 'read' }).field({
      type: DirectShare,
      nullable: true,
      description: 'The share as it is now; null if it has ended.',
      resolve: ({ share }) => share,
    }),
    viewer: viewerField(t),
  }),
})
