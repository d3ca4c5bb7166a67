import { FILE } from '../db/models/entry.ts'
import type { Page } from '../db/queries/page.ts'
import type { Caller } from '../src/access/caller.ts'
import type { Drive } from '../src/access/drive.ts'
import { mayUsePrivateFiles } from '../src/access/scopes.ts'
import type { ShareKind as Kind, ShareView } from '../src/services/sharing/share-list.ts'
import { MAX_NAME_PART, MAX_SHARED_FILES } from '../src/values/limits.ts'
import { findDrive } from './access.ts'
import { batch, batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, newestFirst, pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { entryOf } from './entry.ts'
import { EntryKind, ShareKind } from './enums.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { Person } from './person.ts'
import { sharedPicture } from './preview.ts'
import { Entry, File } from './refs.ts'
import { Viewer } from './viewer.ts'

const typeOf = ({ sharedFor }: ShareView) => (sharedFor === '' ? 'LinkShare' : 'DirectShare')

/** The ids of the entries of a share. */
export async function entryIdsOf(
  { id, entryId, entryCount }: ShareView,
  context: Context,
): Promise<string[]> {
  return (entryCount === null ? undefined : await entryIds(context, id)) ?? [entryId]
}

const entryIds = batch(({ services }, ids) => services.shares.entryIdsOf(ids))

/** The current entries of a share of the caller, if they may read its drive. */
export async function sharedEntry(
  { bucketId, entryId }: Pick<ShareView, 'bucketId' | 'entryId'>,
  context: Context & { caller: Caller },
) {
  const drive = await findDrive(context, context.caller, bucketId)
  return drive && !drive.refusal('read') ? entryOf(context, drive, entryId) : null
}

/** Those of the entries that still exist. */
export const sharedEntries = async (
  { bucketId, entryIds }: { bucketId: string; entryIds: readonly string[] },
  context: Context & { caller: Caller },
) => {
  const entries = await Promise.all(
    entryIds.map(entryId => sharedEntry({ bucketId, entryId }, context)),
  )
  return entries.filter(entry => entry !== null)
}

const ownEntry = (share: ShareView, context: Context & { caller: Caller }) =>
  share.sharer.id === context.caller.userId ? sharedEntry(share, context) : null

export const Share = builder.interfaceRef<ShareView>('Share')

Share.implement({
  description:
    'A share that the caller has made or received: of a file, a folder, or several of them, which appear as a folder.',
  interfaces: [Node],
  resolveType: typeOf,
  fields: t => ({
    token: t.exposeString('token', { description: 'The token of the share, part of its URL.' }),
    url: t.expose('link', { type: 'URL', description: 'The page of the share.' }),
    file: t.withAuth({ privateFiles: 'read' }).field({
      type: File,
      nullable: true,
      description:
        'The file that the caller shares; null in a share of a folder, or of another person.',
      resolve: (share, _args, context) => (share.kind === FILE ? ownEntry(share, context) : null),
    }),
    entry: t.withAuth({ privateFiles: 'read' }).field({
      type: Entry,
      nullable: true,
      description:
        'The file or folder that the caller shares, the first of several; null in a share of another person.',
      resolve: (share, _args, context) => ownEntry(share, context),
    }),
    entries: t.withAuth({ privateFiles: 'read' }).field({
      type: [Entry],
      nullable: true,
      listSize: MAX_SHARED_FILES,
      description:
        'The shared entries in the order of selection; null in a share of another person.',
      resolve: async (share, _args, context) =>
        share.sharer.id === context.caller.userId
          ? sharedEntries(
              { bucketId: share.bucketId, entryIds: await entryIdsOf(share, context) },
              context,
            )
          : null,
    }),
    entryCount: t.int({
      description: 'The number of shared files and folders, without the content of folders.',
      resolve: ({ entryCount }) => entryCount ?? 1,
    }),
    entryKind: t.expose('kind', {
      type: EntryKind,
      description: 'Whether a file or a folder is shared; FOLDER for several entries.',
    }),
    fileName: t.string({
      description: 'The name of the file or folder; several have a name like "a.txt and 2 more".',
      resolve: ({ names }) => names.at(-1) ?? '',
    }),
    firstName: t.exposeString('firstName', {
      description: 'The name of the file or folder, or of the first of several.',
    }),
    contentType: t.exposeString('fileType', {
      description: 'The media type of the file; empty for a folder.',
    }),
    size: t.expose('size', {
      type: 'Bytes',
      description: 'The bytes of the file, or of all files in the folders.',
    }),
    md5: t.exposeString('md5', { description: 'MD5 of the bytes, in hex; empty for a folder.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    label: t.exposeString('label', {
      description: 'A name for the share that only its sharer sees; empty for a received share.',
    }),
    title: t.exposeString('title', {
      description:
        'The heading of its page; if empty, the page shows the name of the shared entry.',
    }),
    message: t.exposeString('message', { description: 'The message to visitors of its page.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null if it does not.',
    }),
    passwordProtected: t.exposeBoolean('passwordProtected', {
      description: 'Whether it asks for a password.',
    }),
    downloads: t.exposeInt('downloads', { description: 'How often it was used.' }),
    maxDownloads: t.exposeInt('maxDownloads', {
      nullable: true,
      description:
        'The maximum number of downloads, after which the share ends; null for no limit.',
    }),
    allowDownload: t.exposeBoolean('allowDownload', {
      description:
        'Whether the file may be downloaded, not only viewed on the page of the share. Viewers can still keep the bytes that they see.',
    }),
    sharedBy: t.field({
      type: Person,
      description: 'Who made it.',
      resolve: ({ sharer }) => sharer,
    }),
  }),
})

export const LinkShare = builder.objectRef<ShareView>('LinkShare').implement({
  description: 'A share with everyone who has the link.',
  interfaces: [Node, Share],
})

export const DirectShare = builder.objectRef<ShareView>('DirectShare').implement({
  description: 'A share with one person.',
  interfaces: [Node, Share],
  fields: t => ({
    recipient: t.exposeString('sharedFor', {
      description: 'The person with this verified e-mail address may open it.',
    }),
    mayEdit: t.exposeBoolean('mayEdit', {
      description:
        'Whether its recipient may edit: mutations then accept the id of the share in place of the id of a drive. Of a single file, the content can be replaced.',
    }),
    revision: t.int({
      nullable: true,
      description:
        'The revision of a single shared file, to be sent as `expectedRevision`. Null for folders and several entries.',
      resolve: ({ kind, revision }) => (kind === FILE ? revision : null),
    }),
    thumbnail: t.field({
      type: 'URL',
      nullable: true,
      description:
        'A small picture of the shared file, for the session of its recipient. Null for folders, where there is none, and where a password or a limit of downloads protects the file.',
      resolve: (share, _args, context) =>
        share.kind === FILE &&
        !share.passwordProtected &&
        context.services.shareLinks.showsPictures(share)
          ? sharedPicture(context, share, share.link)
          : null,
    }),
    seen: t.exposeBoolean('seen', { description: 'Whether the recipient has seen it.' }),
  }),
})

export const ShareConnection = connectionOf('Share', Share)

export const DirectShareConnection = connectionOf('DirectShare', DirectShare)

const knownShares = batchSeen(({ shares }, caller, ids) => shares.knownAmong(caller, ids))

findable('share', typeOf, async (context, caller, id) => {
  if (caller.workspaceId !== null) return null
  mayUsePrivateFiles(caller, 'read')
  return knownShares(context, id)
})

const pagesOf = batchPages<ShareView, [string], [{ kind: Kind | null; newestFirst: boolean }]>(
  async ({ services, caller }, entryIds, limit, after, query) =>
    caller
      ? services.shares.pagesOfEntries(caller, entryIds, {
          ...query,
          after: after?.[0] ?? null,
          limit,
        })
      : new Map<string, Page<ShareView>>(),
)

const shareCountOf = batchSeen(({ entryLists }, caller, ids) => entryLists.shareCounts(caller, ids))

/**
 * In a workspace, shares are visible to members who may share. A key of the workspace does not see
 * the shares of its creator.
 */
const isHidden = (drive: Drive): boolean =>
  drive.workspace !== null && drive.refusal('share') !== null

builder.interfaceFields(Entry, t => ({
  shareCount: t.withAuth({ drive: 'read' }).int({
    nullable: true,
    description:
      'How many active shares of the caller contain it, alone or with other entries; null in a workspace where the caller may not share.',
    resolve: async ({ id }, _args, context) =>
      isHidden(context.drive) ? null : ((await shareCountOf(context, id)) ?? 0),
  }),
  shares: t.withAuth({ drive: 'read' }).field({
    type: ShareConnection,
    nullable: true,
    description:
      'The active shares that the caller has made of it, oldest first. Null in a workspace where the caller may not share.',
    args: {
      kind: t.arg({ type: ShareKind, description: 'Only shares of this kind.' }),
      newestFirst: newestFirst(t.arg),
      ...pageArgs(t.arg),
    },
    resolve: ({ id, drive }, { kind, newestFirst, ...page }, context: Context) => {
      const query = { kind: kind ?? null, newestFirst: newestFirst ?? false }
      return isHidden(drive)
        ? null
        : forwardConnection(page, byId, (limit, after) => pagesOf(context, id, limit, after, query))
    },
  }),
}))

builder.objectFields(Viewer, t => ({
  shares: t.withAuth({ privateFiles: 'read' }).field({
    type: ShareConnection,
    description: 'The active shares that the caller has made, oldest first.',
    args: {
      kind: t.arg({ type: ShareKind, description: 'Only shares of this kind.' }),
      ended: t.arg.boolean({
        defaultValue: false,
        description:
          'List shares that have expired or are used up instead of active ones; they are kept for 30 days after they expire.',
      }),
      recipient: t.arg.string({ description: 'Only shares with this e-mail address.' }),
      search: t.arg.string({
        description: `Only shares with this text in the name of an entry, the label, the title or the recipient: 1 to ${MAX_NAME_PART} characters.`,
      }),
      entries: t.arg.idList({
        maxItems: MAX_SHARED_FILES,
        description: 'Only shares that contain one of these entries, alone or with others.',
      }),
      newestFirst: newestFirst(t.arg),
      ...pageArgs(t.arg),
    },
    resolve: (
      _viewer,
      { kind, ended, recipient, search, entries, newestFirst, ...page },
      { services, caller },
    ) =>
      forwardConnection(page, byId, (limit, after) =>
        services.shares.sentBy(caller, limit, after?.[0] ?? null, {
          kind: kind ?? null,
          ended: ended ?? false,
          newestFirst: newestFirst ?? false,
          recipient: recipient ?? null,
          search: search || null,
          entryIds: entries ?? null,
        }),
      ),
  }),
  receivedShares: t.withAuth({ privateFiles: 'read' }).field({
    type: DirectShareConnection,
    description: 'The active shares with the verified address of the caller, oldest first.',
    args: {
      seen: t.arg.boolean({
        description: 'Only shares that the caller has seen (true) or has not seen (false).',
      }),
      newestFirst: newestFirst(t.arg),
      ...pageArgs(t.arg),
    },
    resolve: (_viewer, { seen, newestFirst, ...page }, { services, caller }) =>
      forwardConnection(page, byId, (limit, after) =>
        services.shares.receivedBy(caller, limit, after?.[0] ?? null, {
          seen: seen ?? null,
          newestFirst: newestFirst ?? false,
        }),
      ),
  }),
  unseenShareCount: t.withAuth({ privateFiles: 'read' }).int({
    description: 'How many received shares the caller has not seen.',
    resolve: (_viewer, _args, { services, caller }) => services.directShares.countUnseen(caller),
  }),
}))

builder.subscriptionField('shareReceived', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: DirectShare,
    description: 'Sends each share that the caller receives, or that is renewed.',
    subscribe: (_root, _args, context) => context.services.subscriptions.sharesReceived(context),
    resolve: share => share,
  }),
)
