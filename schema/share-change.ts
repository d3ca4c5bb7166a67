import { validate as isUuid } from 'uuid'
import { Drive as DriveValue } from '../src/access/drive.ts'
import type { Context } from '../src/context.ts'
import { InvalidInput } from '../src/errors.ts'
import { figure, MAX_DOWNLOADS, MAX_PASSWORD, MAX_SHARED_FILES } from '../src/limits.ts'
import type { ShareInfo } from '../src/services/sharing/share-link.ts'
import { builder, type ObjectFields } from './builder.ts'
import { Download } from './download.ts'
import { entryOf } from './entry.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { Disposition, MailStatus } from './enums.ts'
import { mutation } from './mutation.ts'
import { File } from './refs.ts'
import { DirectShare, LinkShare } from './share.ts'
import { viewerField } from './viewer.ts'

const SharePreview = builder.objectRef<ShareInfo>('SharePreview').implement({
  description: 'What everyone with a link may know before downloading.',
  fields: t => ({
    fileName: t.exposeString('fileName', { description: 'The name of the file.' }),
    contentType: t.exposeString('fileType', { description: 'The media type of the file.' }),
    size: t.expose('size', { type: 'Bytes', description: 'The bytes of the file.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the share ends.' }),
    passwordProtected: t.exposeBoolean('passwordProtected', { description: 'Whether it asks for a password.' }),
  }),
})

builder.queryField('share', t =>
  t.withAuth({ public: true }).field({
    type: SharePreview,
    description: 'What is behind a link. For everybody who has it.',
    args: { token: t.arg.string({ required: true, description: 'The token of the share.' }) },
    resolve: (_root, { token }, context) => context.services.shareLinks.info(token, context),
  }),
)

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

/** The token of a share, whether or not there is one; empty for what can be the id of none. */
const tokenOf = ({ services }: Context, { id, token }: Ref): string =>
  id ? (isUuid(id) ? services.shares.tokenOf(id) : '') : (token ?? '')

/** The field of a payload that shows the file of the caller that is shared. */
const fileField = <Payload extends { fileId: string }>(t: ObjectFields<Payload>) =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: File,
    nullable: true,
    description: 'The file as it is now.',
    resolve: ({ fileId }, _args, context) => entryOf(context, DriveValue.own(context.caller), fileId),
  })

mutation('createLink', {
  description: 'Makes a link with which everybody may download one file of the caller.',
  auth: { drive: 'share' },
  fails: ['FILE_NOT_FOUND', 'INVALID_PATH', 'INVALID_DURATION', 'INVALID_INPUT', 'QUOTA_EXCEEDED', 'RATE_LIMITED'],
  places: { path: 'file', max_downloads: 'maxDownloads' },
  rateLimit: 'links',
  input: t => ({
    file: t.field({ type: EntryRef, required: true, description: 'A file of the own drive.' }),
    duration: t.string({ description: 'How long the link lives: 30m, 24h, 7d, 2w, 1mo, 1y; 24h by default.' }),
    password: t.string({ description: `1 to ${MAX_PASSWORD} characters.` }),
    maxDownloads: t.int({ description: `After how many downloads it ends, 1 to ${figure(MAX_DOWNLOADS)}.` }),
  }),
  on: ({ file }) => ({ entries: [file] }),
  resolve: async ({ file, ...input }, { services, caller }, info) => {
    // Each password costs a hash, which all callers share the processor for.
    if (input.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    const share = await services.shares.createLink(caller, nameOf(file), input)
    return { share, fileId: share.fileId }
  },
  payload: t => ({
    share: t.expose('share', { type: LinkShare, description: 'The new link.' }),
    file: fileField(t),
    viewer: viewerField(t),
  }),
})

mutation('shareFiles', {
  description: 'Shares files of the caller with one person: all of them, or none. Sharing again renews.',
  auth: { drive: 'share' },
  fails: ['FILE_NOT_FOUND', 'INVALID_PATH', 'INVALID_DURATION', 'INVALID_INPUT', 'RATE_LIMITED'],
  places: { path: 'files' },
  rateLimit: 'sharing',
  input: t => ({
    files: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_SHARED_FILES,
      description: `1 to ${figure(MAX_SHARED_FILES)} files of the own drive.`,
    }),
    email: t.string({ required: true, description: 'Who has this verified address receives the files.' }),
    duration: t.string({ description: 'How long the shares live; 7d by default.' }),
    password: t.string({ description: `1 to ${MAX_PASSWORD} characters.` }),
    sendEmail: t.boolean({ description: 'Whether to tell the recipient by mail.' }),
  }),
  on: ({ files }) => ({ entries: files, at: 'input.files' }),
  resolve: async ({ files, ...input }, { services, caller }) => {
    if (files.length === 0) throw new InvalidInput('files', `Name 1 to ${figure(MAX_SHARED_FILES)} files.`)
    const made = await services.directShares.share(caller, files.map(nameOf), input)
    const ids = made.shares.map(({ id }) => id)
    return { shares: await services.shares.sentAmong(caller, ids), mail: made.notificationStatus }
  },
  payload: t => ({
    shares: t.expose('shares', {
      type: [DirectShare],
      description: 'One for each file, in the same order.',
      listSize: MAX_SHARED_FILES,
      sizedBy: 'input.files',
    }),
    mail: t.expose('mail', { type: MailStatus, description: 'What became of the mail to the recipient.' }),
    viewer: viewerField(t),
  }),
})

mutation('revokeShare', {
  description: 'Ends a share of the caller for good.',
  auth: { privateFiles: 'share' },
  fails: ['SHARE_NOT_FOUND', 'FORBIDDEN'],
  input: t => ({ share: t.field({ type: ShareRef, required: true, description: 'The share.' }) }),
  resolve: async ({ share }, context) => {
    const { services, caller } = context
    const { id, fileId } = await services.shares.end(caller, tokenOf(context, share), share.id ? 'by id' : 'by token')
    return { revokedId: id, fileId }
  },
  payload: t => ({
    revokedId: t.exposeID('revokedId', { description: 'The id of the share.' }),
    file: fileField(t),
    viewer: viewerField(t),
  }),
})

mutation('openShare', {
  description:
    'Makes a signed URL for a shared file. Counts as one download. What is shared with one person opens for them and the sharer only.',
  auth: { public: true },
  fails: [
    'SHARE_NOT_FOUND',
    'SHARE_EXPIRED',
    'SHARE_USED_UP',
    'PASSWORD_REQUIRED',
    'WRONG_PASSWORD',
    'TOO_MANY_ATTEMPTS',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'INSUFFICIENT_SCOPE',
    'KEY_OUT_OF_BOUNDS',
  ],
  input: t => ({
    token: t.string({ required: true, description: 'The token of the share.' }),
    password: t.string({ description: 'The password, where the share asks for one.' }),
    disposition: t.field({ type: Disposition, description: 'ATTACHMENT by default.' }),
  }),
  resolve: async ({ token, password, disposition }, { services, caller, address, client, log }) => ({
    download: await services.shareLinks.open(token, {
      caller,
      address,
      client,
      log,
      password,
      mode: disposition,
      counts: true,
    }),
  }),
  payload: t => ({ download: t.expose('download', { type: Download, description: 'Where the bytes are.' }) }),
})

mutation('markShareSeen', {
  description: 'Notes that the caller has seen a received share.',
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
      description: 'The share as it is now; null when it has ended.',
      resolve: ({ share }) => share,
    }),
    viewer: viewerField(t),
  }),
})
