import { figure, MAX_NOTE } from '../../src/limits.ts'
import { area } from '../plugins/rest.ts'
import { builder } from './builder.ts'
import { MD5, NOTE } from './examples.ts'

const rest = area('notes', 'Notes on contents.')

const FileNote = builder.objectRef<{ content: string }>('FileNote').implement({
  fields: t => ({
    content: t.exposeString('content', { example: NOTE }),
  }),
})

builder.queryField('fileNote', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: FileNote,
    description: 'The note of the caller on a content; empty without one.',
    rest: rest({
      route: 'GET /api/files/{checksum}/note',
      statuses: [400, 401],
      fails: ['FILE_NOT_FOUND'],
    }),
    args: {
      checksum: t.arg.string({ required: true, example: MD5 }),
    },
    resolve: async (_root, { checksum }, { services, caller }) => ({
      content: await services.notes.read(caller, checksum),
    }),
  }),
)

const WrittenNote = builder.objectRef<{ note: string }>('WrittenNote').implement({
  fields: t => ({
    note: t.exposeString('note', { example: NOTE }),
  }),
})

builder.mutationField('writeFileNote', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: WrittenNote,
    description: 'Writes the note of the caller on a content.',
    rest: rest({
      route: 'PUT /api/files/{checksum}/note',
      statuses: [400, 401],
      fails: ['QUOTA_EXCEEDED', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND'],
    }),
    rateLimit: 'notes',
    args: {
      checksum: t.arg.string({ required: true, description: 'MD5 of the content.', example: MD5 }),
      content: t.arg.string({
        required: true,
        description: `Up to ${figure(MAX_NOTE)} characters; an empty one removes the note.`,
        example: NOTE,
      }),
    },
    resolve: async (_root, { checksum, content }, { services, caller }) => ({
      note: await services.notes.write(caller, checksum, content),
    }),
  }),
)
