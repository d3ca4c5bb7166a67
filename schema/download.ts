import type { Download as DownloadValue } from '../src/services/sharing/download.ts'
import { builder } from './builder.ts'

export const Download = builder.objectRef<DownloadValue>('Download').implement({
  description:
    'A signed URL for the bytes of a file or an archive. Anyone who has it may use it until it expires.',
  fields: t => ({
    url: t.expose('url', {
      type: 'URL',
      description: 'The URL: GET returns the bytes, or a range of them.',
    }),
    fileName: t.exposeString('fileName', { description: 'The file name for saving.' }),
    size: t.field({
      type: 'Bytes',
      description: 'Number of bytes.',
      resolve: ({ delivery }) => delivery.size,
    }),
    etag: t.string({
      description:
        'The ETag of the bytes. A client that resumes with another URL compares it: equal ETags mean equal bytes.',
      resolve: ({ delivery }) => delivery.etag,
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the URL expires.' }),
  }),
})
