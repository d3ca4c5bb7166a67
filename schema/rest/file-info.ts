import type { Drive } from '../../src/access/drive.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import { objectOf } from './builder.ts'
import { named } from './changes.ts'
import { BYTES, FILE_PATH, MD5, MEDIA_TYPE, MODIFIED } from './examples.ts'
import { operation as ofOwnFiles } from './files.ts'
import { declareForOwners } from './owners.ts'

const FileInfo = objectOf<FileView & { drive: Drive }>('FileInfo', 'A file as it is now.', t => ({
  id: t.exposeID('id'),
  name: t.string({ example: 'report.pdf', resolve: ({ names }) => names.at(-1) ?? '' }),
  path: t.string({
    description: 'Full path.',
    example: FILE_PATH,
    resolve: ({ drive, names }) => drive.pathOf(names),
  }),
  file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
  size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
  md5_checksum: t.exposeString('md5', {
    description: 'MD5 of the bytes, lower-case hex.',
    example: MD5,
  }),
  revision: t.expose('revision', {
    type: 'Long',
    description: 'Grows with each change of its content, name or place; the ETag.',
    example: 7,
  }),
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  created_by: t.exposeID('createdBy', { nullable: true }),
  modified_at: t.expose('modifiedAt', { type: 'DateTime', description: MODIFIED }),
  updated_at: t.expose('updatedAt', { type: 'DateTime' }),
}))

declareForOwners(ofOwnFiles, ({ whose, base, operation, name, denied }) => {
  operation(`GET ${base}/files/info`, name('', 'FileInfo'), {
    description: `One file of ${whose}, by its path or its id.`,
    auth: { drive: 'read' },
    statuses: [400, 401, ...denied, 404],
    fails: ['INVALID_PATH', 'FILE_NOT_FOUND'],
    args: arg => ({
      file_id: arg.id({ description: 'The id of the file, unless its path is given.' }),
      if_none_match: arg.string({
        description:
          'The ETag that the caller already has. The response is 304 without a body if the file at this path still has it.',
        example: '"7"',
      }),
      path: arg.string({ description: 'Full path.', example: FILE_PATH }),
    }),
    type: FileInfo,
    resolve: async ({ file_id: id, path }, context) => {
      const file = await context.services.listings.file(context.tree, { id, path })
      // The revision does not change when a folder above the file is renamed, although its path
      // does.
      context.shared.revalidates = !id
      return { ...named(context, file), drive: context.drive }
    },
  })
})
