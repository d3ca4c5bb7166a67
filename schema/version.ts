import { mapPage } from '../db/queries/page.ts'
import { modifiedAtOf } from '../db/queries/version.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import type { VersionView } from '../src/services/tree/version.ts'
import { findDriveOf } from './access.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { Download } from './download.ts'
import { entryOf } from './entry.ts'
import { madeEntry } from './entry-change.ts'
import { Disposition } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { personField } from './person.ts'
import { Drive, type EntryNode, File } from './refs.ts'

/** A version of a file in a drive that the caller may read. */
type VersionNode = VersionView & { file: EntryNode }

const Version = builder.objectRef<VersionNode>('Version').implement({
  description: 'A replaced content of a file.',
  interfaces: [Node],
  fields: t => ({
    file: t.expose('file', { type: File, description: 'The file.' }),
    size: t.expose('size', { type: 'Bytes', description: 'Its bytes.' }),
    contentType: t.exposeString('fileType', { description: 'Its media type.' }),
    md5: t.exposeString('md5', { description: 'MD5 of its bytes in lower-case hex.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was uploaded.' }),
    modifiedAt: t.field({
      type: 'DateTime',
      description:
        'When it was last modified, as reported by the client; otherwise, when it was uploaded.',
      resolve: modifiedAtOf,
    }),
    createdBy: personField(
      t,
      'Who uploaded it; null if their account is gone.',
      ({ createdBy }) => createdBy,
    ),
    replacedAt: t.expose('replacedAt', { type: 'DateTime', description: 'When it was replaced.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description:
        'When it will be deleted; sooner if the file has too many versions, or if the drive keeps too much.',
    }),
    download: t.field({
      type: Download,
      description: 'A signed URL for its bytes.',
      args: {
        disposition: t.arg({
          type: Disposition,
          defaultValue: 'download',
          description: 'What a browser does with it.',
        }),
      },
      resolve: ({ file, ...version }, { disposition }, { services }) =>
        services.downloads.link({ ...version, name: file.name }, disposition ?? 'download'),
    }),
  }),
})

const versionsOf = batchPages<VersionView>(({ services }, ids, limit, after) =>
  services.versions.pagesOf(ids, limit, after?.[0] ?? null),
)

builder.objectField(File, 'versions', t =>
  t.withAuth({ drive: 'read' }).field({
    type: connectionOf('Version', Version),
    nullable: true,
    description: 'Its replaced contents, newest first.',
    args: pageArgs(t.arg),
    resolve: (file, page, context) =>
      forwardConnection(page, byId, async (limit, after) =>
        mapPage(await versionsOf(context, file.id, limit, after), version => ({
          ...version,
          file,
        })),
      ),
  }),
)

builder.objectFields(Drive, t => ({
  versionsKept: t.int({
    description: 'How many versions of a file are kept; with 0, replaced contents are deleted.',
    resolve: (_drive, _args, { services }) => services.versions.kept,
  }),
  versionDays: t.int({
    description: 'How many days a version is kept.',
    resolve: (_drive, _args, { services }) => services.versions.days,
  }),
}))

const versionsById = batch(({ services }, ids) => services.versions.byIds(ids))

/** A version of a file of a drive; null if the version or the file no longer exists. */
async function versionOf(
  context: Context,
  drive: DriveValue,
  id: string,
): Promise<VersionNode | null> {
  const version = await versionsById(context, id)
  const file =
    version?.bucketId === drive.id ? await entryOf(context, drive, version.entryId) : null
  return version && file ? { ...version, file } : null
}

findable('version', 'Version', async (context, caller, id) => {
  const drive = await findDriveOf(context, caller, 'version', id)
  return drive && versionOf(context, drive.open('read').drive, id)
})

mutation('restoreVersion', {
  description:
    'Restores a version as the content of its file. The replaced content becomes a version.',
  auth: { drive: 'write' },
  fails: ['VERSION_NOT_FOUND', 'FOLDER_NOT_FOUND', 'QUOTA_EXCEEDED', 'REVISION_MISMATCH'],
  input: t => ({
    version: t.id({ required: true, description: 'The id of the version.' }),
    expectedRevision: t.int({
      description:
        'The expected revision of its file; fails with REVISION_MISMATCH if it has another one.',
    }),
  }),
  on: ({ version }) => ({ version }),
  resolve: async ({ version: removedId, expectedRevision: expected }, context) => {
    const { services, drive, tree, limits, caller } = context
    const { file, keptId } = await services.versions.restore(
      tree,
      removedId,
      { limits, expected },
      caller,
    )
    return { drive, removedId, keptId, file: await madeEntry(context, drive, file.id) }
  },
  payload: t => ({
    file: t.expose('file', { type: File, description: 'The file with this content.' }),
    version: t.withAuth({ drive: 'read' }).field({
      type: Version,
      nullable: true,
      description: 'The version with its former content; null for a key without a scope to read.',
      resolve: ({ drive, keptId }, _args, context) => versionOf(context, drive, keptId),
    }),
    removedId: t.exposeID('removedId', {
      description: 'The id of the version, which no longer exists.',
    }),
    drive: t.expose('drive', { type: Drive, description: 'Its drive.' }),
  }),
})

mutation('deleteVersion', {
  description: 'Deletes a version permanently.',
  auth: { drive: 'delete' },
  fails: ['VERSION_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  input: t => ({ version: t.id({ required: true, description: 'The id of the version.' }) }),
  on: ({ version }) => ({ version }),
  resolve: async ({ version: deletedId }, context) => {
    const { services, drive, tree, caller } = context
    const { id } = await services.versions.remove(tree, deletedId, caller)
    return { drive, deletedId, fileId: id }
  },
  payload: t => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the version.' }),
    file: t.withAuth({ drive: 'read' }).field({
      type: File,
      nullable: true,
      description: 'Its file; null for a key without a scope to read.',
      resolve: ({ drive, fileId }, _args, context) => entryOf(context, drive, fileId),
    }),
    drive: t.expose('drive', { type: Drive, description: 'The drive of its file.' }),
  }),
})
