import { builder } from './builder.ts'

const FileNote = builder.objectRef<{ content: string }>('FileNote').implement({
  fields: t => ({ content: t.exposeString('content') }),
})

builder.queryField('fileNote', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: FileNote,
    description: 'The note of the caller on a content; empty when there is none yet.',
    rest: { route: 'GET /api/files/{checksum}/note', errors: [400, 401] },
    args: { checksum: t.arg.string({ required: true }) },
    resolve: async (_root, { checksum }, { services, caller }) => ({
      content: await services.notes.read(caller, checksum),
    }),
  }),
)

const WrittenNote = builder.objectRef<{ note: string }>('WrittenNote').implement({
  fields: t => ({ note: t.exposeString('note') }),
})

const WriteFileNoteInput = builder.inputType('WriteFileNoteInput', {
  fields: t => ({
    checksum: t.string({ required: true, description: 'MD5 of the content.' }),
    content: t.string({ required: true, description: 'Up to 10,000 characters; an empty one removes the note.' }),
  }),
})

builder.mutationField('writeFileNote', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: WrittenNote,
    description: 'Writes the note of the caller on a content.',
    rest: { route: 'PUT /api/files/{checksum}/note', errors: [400, 401] },
    rateLimit: 'notes',
    args: { input: t.arg({ type: WriteFileNoteInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }) => ({
      note: await services.notes.write(caller, input.checksum, input.content),
    }),
  }),
)
