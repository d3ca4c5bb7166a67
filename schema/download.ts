import type { Download as DownloadValue } from '../src/services/sharing/download.ts'
import { builder } from './builder.ts'

export const Download = builder.objectRef<DownloadValue>('Download').implement({
  description: 'A signed URL for the bytes of a file or an archive. Anyone who has it may use it until it ends.',
  fields: t => ({
    url: t.expose('url', { type: 'URL', description: 'GET it for the bytes, or for a range of them.' }),
    fileName: t.exposeString('fileName', { description: 'The name to save it under.' }),
    size: t.field({
      type: 'Bytes',
      description: 'How many bytes it leads to.',
      resolve: ({ delivery }) => delivery.size,
    }),
    etag: t.string({
      description:
        'The bytes of two URLs are the same where this is. A client that resumes by another URL compares it.',
      resolve: ({ delivery }) => delivery.etag,
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the URL ends.' }),
  }),
})
