import type { Download } from '../../src/services/sharing/download.ts'
import { figure, MAX_ARCHIVED, MAX_ZIPPED } from '../../src/values/limits.ts'
import { objectOf } from './builder.ts'
import { BYTES, FOLDER_PATH, SIGNED_URL } from './examples.ts'
import { operation } from './files.ts'
import { declareForOwners } from './owners.ts'

const ZipLink = objectOf<Download>('ZipLink', 'A signed URL for a ZIP archive.', t => ({
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  file_name: t.exposeString('fileName', { example: '2026.zip' }),
  size: t.field({ type: 'Long', example: BYTES, resolve: ({ delivery }) => delivery.size }),
  url: t.exposeString('url', { example: SIGNED_URL }),
}))

declareForOwners(operation, ({ whose, base, operation, name, denied }) => {
  operation(`POST ${base}/files/zip`, name('zip', 'Files'), {
    description: `Returns a signed URL for one ZIP archive of files and folders of ${whose}, up to ${figure(MAX_ARCHIVED)} in total. The URL becomes invalid if one of its files changes.`,
    goesOn: 'reads files',
    auth: { drive: 'read' },
    statuses: [400, 401, ...denied, 404],
    fails: ['INVALID_PATH', 'FILE_NOT_FOUND'],
    args: arg => ({
      entries: arg.stringList({
        required: true,
        maxItems: MAX_ZIPPED,
        description: `1 to ${figure(MAX_ZIPPED)} full paths, or only an empty path for everything.`,
        example: [FOLDER_PATH],
      }),
    }),
    type: ZipLink,
    resolve: ({ entries }, { services, tree }) =>
      services.zips.link(
        tree,
        entries.map(path => ({ path })),
      ),
  })
})
