import { modifiedAtOf } from '../../db/queries/version.ts'
import type { Drive } from '../../src/access/drive.ts'
import type { FileView, FoundEntry } from '../../src/services/tree/listing.ts'
import type { VersionView } from '../../src/services/tree/version.ts'
import { parseMode } from '../../src/values/media.ts'
import { cursor, ifMatch, limit, mode } from './arguments.ts'
import { objectOf } from './builder.ts'
import { named } from './changes.ts'
import { BYTES, CURSOR, FILE_PATH, ID, MD5, MEDIA_TYPE, MODIFIED } from './examples.ts'
import { operationsOf } from './operation.ts'
import { declareForOwners } from './owners.ts'

const Version = objectOf<VersionView>('Version', 'A replaced content of a file.', t => ({
  id: t.exposeID('id'),
  file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
  md5_checksum: t.exposeString('md5', { example: MD5 }),
  size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
  created_at: t.expose('createdAt', { type: 'DateTime', description: 'When it was uploaded.' }),
  created_by: t.exposeID('createdBy', { nullable: true }),
  modified_at: t.field({ type: 'DateTime', description: MODIFIED, resolve: modifiedAtOf }),
  replaced_at: t.expose('replacedAt', { type: 'DateTime' }),
  expires_at: t.expose('expiresAt', {
    type: 'DateTime',
    description: 'When it will be deleted; sooner if the drive keeps too much.',
  }),
}))

interface Versions {
  drive: Drive
  file: FoundEntry
  versions: VersionView[]
  nextCursor: string | null
}

const FileVersions = objectOf<Versions>('FileVersions', t => ({
  file_id: t.id({ resolve: ({ file }) => file.id }),
  path: t.string({ example: FILE_PATH, resolve: ({ drive, file }) => drive.pathOf(file.names) }),
  versions: t.expose('versions', { type: [Version], description: 'Newest first.' }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
}))

const RestoredVersion = objectOf<{ drive: Drive; file: FileView; keptId: string }>(
  'RestoredVersion',
  'A file whose content was restored from a version.',
  t => ({
    file_id: t.id({ resolve: ({ file }) => file.id }),
    file_type: t.string({ example: MEDIA_TYPE, resolve: ({ file }) => file.fileType }),
    md5_checksum: t.string({ example: MD5, resolve: ({ file }) => file.md5 }),
    path: t.string({ example: FILE_PATH, resolve: ({ drive, file }) => drive.pathOf(file.names) }),
    size: t.field({
      type: 'Long',
      description: 'Bytes.',
      example: BYTES,
      resolve: ({ file }) => file.size,
    }),
    updated_at: t.field({ type: 'DateTime', resolve: ({ file }) => file.updatedAt }),
    version_id: t.exposeID('keptId', { description: 'The version with the former content.' }),
  }),
)

const DeletedVersion = objectOf<{ id: string }>('DeletedVersion', t => ({
  version_deleted: t.exposeID('id', { example: ID }),
}))

declareForOwners(operationsOf('versions', 'Replaced contents of files.'), owner => {
  const { whose, operation, denied } = owner
  const path = `${owner.base}/files/versions` as const
  const name = (verb: string) => owner.name(verb, 'Version')

  operation(`GET ${path}`, owner.name('', 'Versions'), {
    description: `The replaced contents of a file of ${whose}, newest first.`,
    auth: { drive: 'read' },
    statuses: [400, 401, ...denied, 404],
    fails: ['INVALID_PATH', 'FILE_NOT_FOUND'],
    args: arg => ({
      cursor: arg.string(cursor),
      file_id: arg.id({ description: 'The id of the file, unless its path is given.' }),
      limit: arg.int(limit),
      path: arg.string({ description: 'Full path.', example: FILE_PATH }),
    }),
    type: FileVersions,
    resolve: async ({ file_id: id, path, ...page }, context) => {
      const { services, drive, tree } = context
      const listed = await services.versions.list(tree, { id, path }, page)
      named(context, listed.file)
      return { drive, ...listed }
    },
  })

  operation(`GET ${path}/{version_id}/download`, owner.name('', 'VersionDownload'), {
    description: `Downloads a version of a file of ${whose}.`,
    auth: { drive: 'read' },
    statuses: [400, 401, ...denied, 404],
    fails: ['INVALID_MODE', 'VERSION_NOT_FOUND'],
    args: arg => ({ mode: arg.string(mode), version_id: arg.id({ required: true }) }),
    type: 'Download',
    resolve: async ({ version_id: id, mode: choice }, { services, tree }) => {
      const mode = parseMode(choice ?? undefined)
      const { version, file } = await services.versions.find(tree, id)
      return services.downloads.link({ ...version, name: file.names.at(-1) ?? '' }, mode)
    },
  })

  operation(`POST ${path}/{version_id}/restore`, name('restore'), {
    description: `Restores a version of a file of ${whose} as its content. The current content becomes a version.`,
    auth: { drive: 'write' },
    statuses: [400, 401, ...denied, 404],
    fails: ['QUOTA_EXCEEDED', 'VERSION_NOT_FOUND', 'FOLDER_NOT_FOUND'],
    args: arg => ({ if_match: arg.string(ifMatch), version_id: arg.id({ required: true }) }),
    type: RestoredVersion,
    resolve: async ({ version_id: id, if_match: expected }, context) => {
      const { services, drive, tree, limits, caller } = context
      const restored = await services.versions.restore(tree, id, { limits, expected }, caller)
      named(context, restored.file)
      return { drive, ...restored }
    },
  })

  operation(`DELETE ${path}/{version_id}`, name('delete'), {
    description: `Deletes a version of a file of ${whose} permanently.`,
    auth: { drive: 'delete' },
    statuses: [401, ...denied, 404],
    fails: ['VERSION_NOT_FOUND', 'FOLDER_NOT_FOUND'],
    args: arg => ({ version_id: arg.id({ required: true }) }),
    type: DeletedVersion,
    resolve: async ({ version_id: id }, { services, tree, caller }) => {
      await services.versions.remove(tree, id, caller)
      return { id }
    },
  })
})
