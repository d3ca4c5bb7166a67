import type { Drive } from '../../src/access/drive.ts'
import { parseMode } from '../../src/media.ts'
import type { FileView, FoundEntry } from '../../src/services/tree/listing.ts'
import type { VersionView } from '../../src/services/tree/version.ts'
import { area } from '../plugins/rest.ts'
import { cursor, ifMatch, ifMatchHeader, limit, mode } from './arguments.ts'
import { type Argument, builder } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, ID, MD5, MEDIA_TYPE } from './examples.ts'
import { named } from './files.ts'
import { declareForOwners } from './owners.ts'

const Version = builder.objectRef<VersionView>('Version').implement({
  description: 'A content that a file had before another one replaced it.',
  fields: t => ({
    id: t.exposeID('id'),
    file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
    md5_checksum: t.exposeString('md5', { example: MD5 }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
    created_at: t.expose('createdAt', { type: 'DateTime', description: 'When it was uploaded.' }),
    created_by: t.exposeID('createdBy', { nullable: true }),
    replaced_at: t.expose('replacedAt', { type: 'DateTime' }),
    expires_at: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it is deleted; sooner when too much is kept.',
    }),
  }),
})

interface Versions {
  drive: Drive
  file: FoundEntry
  versions: VersionView[]
  nextCursor: string | null
}

const FileVersions = builder.objectRef<Versions>('FileVersions').implement({
  fields: t => ({
    file_id: t.id({ resolve: ({ file }) => file.id }),
    path: t.string({ example: FILE_PATH, resolve: ({ drive, file }) => drive.pathOf(file.names) }),
    versions: t.expose('versions', { type: [Version], description: 'The newest first.' }),
    next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  }),
})

const RestoredVersion = builder
  .objectRef<{ drive: Drive; file: FileView; keptId: string }>('RestoredVersion')
  .implement({
    description: 'A file that has the content of a version again.',
    fields: t => ({
      file_id: t.id({ resolve: ({ file }) => file.id }),
      file_type: t.string({ example: MEDIA_TYPE, resolve: ({ file }) => file.fileType }),
      md5_checksum: t.string({ example: MD5, resolve: ({ file }) => file.md5 }),
      path: t.string({ example: FILE_PATH, resolve: ({ drive, file }) => drive.pathOf(file.names) }),
      size: t.field({ type: 'Long', description: 'Bytes.', example: BYTES, resolve: ({ file }) => file.size }),
      updated_at: t.field({ type: 'DateTime', resolve: ({ file }) => file.updatedAt }),
      version_id: t.exposeID('keptId', { description: 'The version that holds the content until now.' }),
    }),
  })

const DeletedVersion = builder.objectRef<{ id: string }>('DeletedVersion').implement({
  fields: t => ({ version_deleted: t.exposeID('id', { example: ID }) }),
})

declareForOwners(area('versions', 'Contents that files had before.'), owner => {
  const { whose, rest, place, on, denied } = owner
  const path = `${owner.base}/files/versions` as const
  const name = (verb: string) => owner.name(verb, 'Version')
  const one = (arg: Argument) => ({ version_id: arg.id({ required: true }), ...place(arg) })

  builder.queryField(owner.name('', 'Versions'), t =>
    t.withAuth({ drive: 'read' }).field({
      type: FileVersions,
      description: `The contents that a file of ${whose} had before, the newest first.`,
      rest: rest({
        route: `GET ${path}`,
        statuses: [400, 401, ...denied, 404],
        fails: ['INVALID_PATH', 'FILE_NOT_FOUND'],
      }),
      args: {
        cursor: t.arg.string(cursor),
        file_id: t.arg.id({ description: 'The file, or by its path.' }),
        limit: t.arg.int(limit),
        path: t.arg.string({ description: 'Full path.', example: FILE_PATH }),
        ...place(t.arg),
      },
      on,
      resolve: async (_root, { file_id: id, path, ...page }, context) => {
        const { services, drive, tree } = context
        const listed = await services.versions.list(tree, { id, path }, page)
        named(context, listed.file)
        return { drive, ...listed }
      },
    }),
  )

  builder.queryField(owner.name('', 'VersionDownload'), t =>
    t.withAuth({ drive: 'read' }).field({
      type: 'Download',
      description: `Downloads a version of a file of ${whose}.`,
      rest: rest({
        route: `GET ${path}/{version_id}/download`,
        statuses: [400, 401, ...denied, 404],
        fails: ['INVALID_MODE', 'VERSION_NOT_FOUND'],
      }),
      args: { mode: t.arg.string(mode), ...one(t.arg) },
      on,
      resolve: async (_root, { version_id: id, mode: choice }, { services, tree }) => {
        const mode = parseMode(choice ?? undefined)
        const { version, file } = await services.versions.find(tree, id)
        return services.downloads.link({ ...version, name: file.names.at(-1) ?? '' }, mode)
      },
    }),
  )

  builder.mutationField(name('restore'), t =>
    t.withAuth({ drive: 'write' }).field({
      type: RestoredVersion,
      description: `Makes a version the content of its file of ${whose} again. What that has now becomes a version.`,
      rest: rest({
        route: `POST ${path}/{version_id}/restore`,
        statuses: [400, 401, ...denied, 404],
        fails: ['QUOTA_EXCEEDED', 'VERSION_NOT_FOUND', 'FOLDER_NOT_FOUND'],
        from: ifMatchHeader,
      }),
      args: { if_match: t.arg.string(ifMatch), ...one(t.arg) },
      on,
      resolve: async (_root, { version_id: id, if_match: expected }, context) => {
        const { services, drive, tree, limits, caller } = context
        const restored = await services.versions.restore(tree, id, { limits, expected }, caller)
        named(context, restored.file)
        return { drive, ...restored }
      },
    }),
  )

  builder.mutationField(name('delete'), t =>
    t.withAuth({ drive: 'delete' }).field({
      type: DeletedVersion,
      description: `Deletes a version of a file of ${whose} for ever.`,
      rest: rest({
        route: `DELETE ${path}/{version_id}`,
        statuses: [401, ...denied, 404],
        fails: ['VERSION_NOT_FOUND', 'FOLDER_NOT_FOUND'],
      }),
      args: one(t.arg),
      on,
      resolve: async (_root, { version_id: id }, { services, tree, caller }) => {
        await services.versions.remove(tree, id, caller)
        return { id }
      },
    }),
  )
})
