import { figure, MAX_ARCHIVED, MAX_ZIPPED } from '../src/values/limits.ts'
import { Download } from './download.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { mutation } from './mutation.ts'

mutation('zipEntries', {
  description: `Makes a signed URL for one ZIP archive of files and folders with all that is in them, up to ${figure(MAX_ARCHIVED)} in all. The archive is made while it is sent; when something in it changes, the URL ends.`,
  auth: { drive: 'read' },
  fails: ['INVALID_INPUT', 'INVALID_PATH', 'FILE_NOT_FOUND'],
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_ZIPPED,
      description: `What is in it: 1 to ${figure(MAX_ZIPPED)} entries of one drive, or its root alone.`,
    }),
  }),
  on: ({ entries }) => ({ entries }),
  resolve: async ({ entries }, { services, tree }) => ({
    download: await services.zips.link(tree, entries.map(nameOf)),
  }),
  payload: t => ({ download: t.expose('download', { type: Download, description: 'Where its bytes are.' }) }),
})
