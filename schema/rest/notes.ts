import { figure, MAX_NOTE } from '../../src/values/limits.ts'
import { objectOf } from './builder.ts'
import { MD5, NOTE } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('notes', 'Notes on contents.')

const FileNote = objectOf<{ content: string }>('FileNote', t => ({
  content: t.exposeString('content', { example: NOTE }),
}))

operation('GET /api/files/{checksum}/note', 'fileNote', {
  description: "The caller's note on a content; empty if there is none.",
  auth: { privateFiles: 'read' },
  statuses: [400, 401],
  fails: ['FILE_NOT_FOUND'],
  args: arg => ({
    checksum: arg.string({ required: true, example: MD5 }),
  }),
  type: FileNote,
  resolve: async ({ checksum }, { services, caller }) => ({
    content: await services.notes.read(caller, checksum),
  }),
})

const WrittenNote = objectOf<{ note: string }>('WrittenNote', t => ({
  note: t.exposeString('note', { example: NOTE }),
}))

operation('PUT /api/files/{checksum}/note', 'writeFileNote', {
  description: "Writes the caller's note on a content.",
  auth: { privateFiles: 'write' },
  statuses: [400, 401],
  fails: ['QUOTA_EXCEEDED', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  rateLimit: 'notes',
  args: arg => ({
    checksum: arg.string({ required: true, description: 'MD5 of the content.', example: MD5 }),
    content: arg.string({
      required: true,
      description: `Up to ${figure(MAX_NOTE)} characters; an empty one removes the note.`,
      example: NOTE,
    }),
  }),
  type: WrittenNote,
  resolve: async ({ checksum, content }, { services, caller }) => ({
    note: await services.notes.write(caller, checksum, content),
  }),
})
