import { figure, MAX_ARCHIVED, MAX_ZIPPED } from '../src/values/limits.ts'
import { Download } from './download.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { mutation } from './mutation.ts'

mutation('zipEntries', {
  description: `Creates a signed URL for one ZIP archive of files and folders with everything in them, up to ${figure(MAX_ARCHIVED)} in total. The archive is made while it is sent. If one of its files changes, the URL becomes invalid.`,
  auth: { drive: 'read' },
  goesOn: 'reads files',
  fails: ['INVALID_INPUT', 'INVALID_PATH', 'FILE_NOT_FOUND'],
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_ZIPPED,
      description: `The content of the archive: 1 to ${figure(MAX_ZIPPED)} entries of one drive, or only its root.`,
    }),
  }),
  on: ({ entries }) => ({ entries }),
  resolve: async ({ entries }, { services, tree }) => ({
    download: await services.zips.link(tree, entries.map(nameOf)),
  }),
  payload: t => ({
    download: t.expose('download', { type: Download, description: 'The signed URL.' }),
  }),
})
