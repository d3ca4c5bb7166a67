import type { InputShapeFromFields } from '@pothos/core'
import type { RequestInput } from '../src/services/sharing/file-request-term.ts'
import {
  figure,
  MAX_EXPECTED,
  MAX_KINDS,
  MAX_LABEL,
  MAX_MESSAGE,
  MAX_PASSWORD,
  MAX_REQUESTED_FILES,
  MAX_SENDER_NAME,
} from '../src/values/limits.ts'
import type { InputFields } from './builder.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { SenderPlace } from './enums.ts'
import { FileRequest } from './file-request.ts'
import { mutation } from './mutation.ts'
import { Drive } from './refs.ts'

const terms = (t: InputFields) => ({
  message: t.string({
    description: `A message to the senders, up to ${figure(MAX_MESSAGE)} characters.`,
  }),
  duration: t.string({
    description: 'How long it is open from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never.',
  }),
  password: t.string({ description: `1 to ${MAX_PASSWORD} characters.` }),
  maxFiles: t.int({ description: `Maximum number of files, 1 to ${figure(MAX_REQUESTED_FILES)}.` }),
  maxFileSize: t.field({ type: 'Bytes', description: 'Maximum bytes of one file.' }),
  maxBytes: t.field({ type: 'Bytes', description: 'Maximum bytes of all files together.' }),
  kinds: t.stringList({
    maxItems: MAX_KINDS,
    description: `Up to ${MAX_KINDS} accepted extensions or media types: ".pdf", "image/*", "text/csv".`,
  }),
  asksName: t.boolean({ description: 'Whether senders must give a name.' }),
  expected: t.stringList({
    maxItems: MAX_EXPECTED,
    description: `The names of up to ${MAX_EXPECTED} expected senders, with up to ${MAX_SENDER_NAME} characters each. Senders must then give their name.`,
  }),
  senderPlace: t.field({
    type: SenderPlace,
    description:
      'Where the name of a sender becomes part of the place of a file. With PREFIX and FOLDER, senders must give their name. NONE by default.',
  }),
  notifies: t.boolean({
    description: 'Whether you get mails about new files, at most once an hour.',
  }),
})

const inputOf = ({
  asksName,
  notifies,
  ...given
}: InputShapeFromFields<ReturnType<typeof terms>> & {
  label?: string | null | undefined
}): RequestInput => ({
  ...given,
  asksName: asksName ?? undefined,
  notifies: notifies ?? undefined,
})

const places = {
  path: 'folder',
  folder: 'folder',
  max_files: 'maxFiles',
  max_file_size: 'maxFileSize',
  max_bytes: 'maxBytes',
  asks_name: 'asksName',
}

mutation('createFileRequest', {
  description:
    'Creates a link with which everyone may send files into one folder, without seeing the folder.',
  auth: { drive: 'request' },
  fails: [
    'FOLDER_NOT_FOUND',
    'INVALID_PATH',
    'INVALID_DURATION',
    'INVALID_INPUT',
    'QUOTA_EXCEEDED',
    'RATE_LIMITED',
  ],
  places,
  rateLimit: 'links',
  input: t => ({
    folder: t.field({
      type: EntryRef,
      required: true,
      description: 'The folder; an empty path is the root.',
    }),
    label: t.string({
      required: true,
      description: `What the request asks for: 1 to ${MAX_LABEL} characters.`,
    }),
    ...terms(t),
  }),
  on: ({ folder }) => ({ entries: [folder], at: 'input.folder' }),
  resolve: async ({ folder, ...input }, { services, caller, drive, tree }, info) => {
    // Hashing a password is expensive, and all callers share the processor.
    if (input.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    return {
      drive,
      fileRequest: await services.fileRequests.create(caller, tree, nameOf(folder), inputOf(input)),
    }
  },
  payload: t => ({
    fileRequest: t.expose('fileRequest', {
      type: FileRequest,
      description: 'The new file request.',
    }),
    drive: t.expose('drive', { type: Drive, description: 'The drive of its folder.' }),
  }),
})

mutation('updateFileRequest', {
  description:
    'Changes the terms of a file request of the caller. Its link stays the same. Omitted terms are not changed; null removes a limit.',
  auth: { drive: 'request' },
  fails: ['FILE_REQUEST_NOT_FOUND', 'INVALID_DURATION', 'INVALID_INPUT', 'RATE_LIMITED'],
  places,
  rateLimit: 'links',
  input: t => ({
    fileRequest: t.id({ required: true, description: 'The id of the file request.' }),
    label: t.string({ description: `What the request asks for: 1 to ${MAX_LABEL} characters.` }),
    ...terms(t),
  }),
  on: ({ fileRequest }) => ({ fileRequest }),
  resolve: async ({ fileRequest: id, ...input }, { services, caller, drive, tree }, info) => {
    if (input.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    return {
      drive,
      fileRequest: await services.fileRequests.update(caller, tree, id, inputOf(input)),
    }
  },
  payload: t => ({
    fileRequest: t.expose('fileRequest', {
      type: FileRequest,
      description: 'The file request as it is now.',
    }),
    drive: t.expose('drive', { type: Drive, description: 'The drive of its folder.' }),
  }),
})

mutation('closeFileRequest', {
  description: 'Closes a file request of the caller permanently. Received files are kept.',
  auth: { drive: 'request' },
  fails: ['FILE_REQUEST_NOT_FOUND'],
  input: t => ({
    fileRequest: t.id({ required: true, description: 'The id of the file request.' }),
  }),
  on: ({ fileRequest }) => ({ fileRequest }),
  resolve: async ({ fileRequest: id }, { services, caller, drive, tree }) => ({
    drive,
    fileRequest: await services.fileRequests.close(caller, tree, id),
  }),
  payload: t => ({
    fileRequest: t.expose('fileRequest', {
      type: FileRequest,
      description: 'The closed file request.',
    }),
    drive: t.expose('drive', { type: Drive, description: 'The drive of its folder.' }),
  }),
})
