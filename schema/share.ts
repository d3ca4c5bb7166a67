import type { Page } from '../db/queries/page.ts'
import { Drive as DriveValue } from '../src/access/drive.ts'
import { mayUsePrivateFiles } from '../src/access/scopes.ts'
import type { Context } from '../src/context.ts'
import type { ShareKind as Kind, ShareView } from '../src/services/sharing/share-list.ts'
import { batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, newestFirst, pageArgs } from './connection.ts'
import { entryOf } from './entry.ts'
import { ShareKind } from './enums.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { Person } from './person.ts'
import { File } from './refs.ts'
import { Viewer } from './viewer.ts'

const typeOf = ({ sharedFor }: ShareView) => (sharedFor === '' ? 'LinkShare' : 'DirectShare')

export const Share = builder.interfaceRef<ShareView>('Share')

Share.implement({
  description: 'A share of a file that the caller has made or received.',
  interfaces: [Node],
  resolveType: typeOf,
  fields: t => ({
    token: t.exposeString('token', { description: 'Opens the share; a part of its URL.' }),
    url: t.expose('link', { type: 'URL', description: 'The page of the share.' }),
    file: t.withAuth({ privateFiles: 'read' }).field({
      type: File,
      nullable: true,
      description: 'The file of the caller; null in a share of another person.',
      resolve: ({ sharer, fileId }, _args, context) =>
        sharer.id === context.caller.userId ? entryOf(context, DriveValue.own(context.caller), fileId) : null,
    }),
    fileName: t.string({ description: 'The name of the file.', resolve: ({ names }) => names.at(-1) ?? '' }),
    contentType: t.exposeString('fileType', { description: 'The media type of the file.' }),
    size: t.expose('size', { type: 'Bytes', description: 'The bytes of the file.' }),
    md5: t.exposeString('md5', { description: 'MD5 of the bytes, in hex.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends.' }),
    passwordProtected: t.exposeBoolean('passwordProtected', { description: 'Whether it asks for a password.' }),
    downloads: t.exposeInt('downloads', { description: 'How often it was used.' }),
    maxDownloads: t.exposeInt('maxDownloads', {
      nullable: true,
      description: 'After how many downloads it ends, if it does.',
    }),
    sharedBy: t.field({ type: Person, description: 'Who made it.', resolve: ({ sharer }) => sharer }),
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
    recipient: t.exposeString('sharedFor', { description: 'Who has this verified e-mail address may open it.' }),
    seen: t.exposeBoolean('seen', { description: 'Whether the recipient has seen it.' }),
  }),
})

const ShareConnection = connectionOf('Share', Share)

const knownShares = batchSeen(({ shares }, caller, ids) => shares.knownAmong(caller, ids))

findable('share', typeOf, async (context, caller, id) => {
  if (caller.workspaceId !== null) return null
  mayUsePrivateFiles(caller, 'read')
  return knownShares(context, id)
})

const pagesOf = batchPages<ShareView, [string], [{ kind: Kind | null; newestFirst: boolean }]>(
  async ({ services, caller }, fileIds, limit, after, query) =>
    caller
      ? services.shares.pagesOfFiles(caller, fileIds, { ...query, after: after?.[0] ?? null, limit })
      : new Map<string, Page<ShareView>>(),
)

builder.objectField(File, 'shares', t =>
  t.withAuth({ drive: 'read' }).field({
    type: ShareConnection,
    nullable: true,
    description: 'The live shares that the caller has made of it, oldest first. Null in the drive of a workspace.',
    args: {
      kind: t.arg({ type: ShareKind, description: 'Only those of this kind.' }),
      newestFirst: newestFirst(t.arg),
      ...pageArgs(t.arg),
    },
    resolve: ({ id, drive }, { kind, newestFirst, ...page }, context: Context) => {
      const query = { kind: kind ?? null, newestFirst: newestFirst ?? false }
      return drive.workspace
        ? null
        : forwardConnection(page, byId, (limit, after) => pagesOf(context, id, limit, after, query))
    },
  }),
)

builder.objectFields(Viewer, t => ({
  shares: t.withAuth({ privateFiles: 'read' }).field({
    type: ShareConnection,
    description: 'The live shares that the caller has made, oldest first.',
    args: {
      kind: t.arg({ type: ShareKind, description: 'Only those of this kind.' }),
      ended: t.arg.boolean({
        defaultValue: false,
        description: 'Instead of the live ones those that have expired or are used up, for 30 days after they expire.',
      }),
      newestFirst: newestFirst(t.arg),
      ...pageArgs(t.arg),
    },
    resolve: (_viewer, { kind, ended, newestFirst, ...page }, { services, caller }) =>
      forwardConnection(page, byId, (limit, after) =>
        services.shares.sentBy(caller, limit, after?.[0] ?? null, {
          kind: kind ?? null,
          ended: ended ?? false,
          newestFirst: newestFirst ?? false,
        }),
      ),
  }),
  receivedShares: t.withAuth({ privateFiles: 'read' }).field({
    type: connectionOf('DirectShare', DirectShare),
    description: 'The live shares that are made out to the verified address of the caller, oldest first.',
    args: {
      seen: t.arg.boolean({ description: 'Only those that the caller has seen, or has not.' }),
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
    description: 'A share that was just made out to the caller, or renewed.',
    subscribe: (_root, _args, context) => context.services.subscriptions.sharesReceived(context),
    resolve: share => share,
  }),
)
