import { requestStates } from '../../db/models/file-request.ts'
import type { FileRequestView } from '../../src/services/sharing/file-request.ts'
import type { RequestInput } from '../../src/services/sharing/file-request-term.ts'
import {
  figure,
  MAX_KINDS,
  MAX_LABEL,
  MAX_MESSAGE,
  MAX_PASSWORD,
  MAX_REQUESTED_FILES,
} from '../../src/values/limits.ts'
import { clearable, paged } from './arguments.ts'
import { type Argument, type Given, objectOf } from './builder.ts'
import {
  BYTES,
  CURSOR,
  FILE_REQUEST_LINK,
  FILE_REQUEST_TOKEN,
  FOLDER_PATH,
  PASSWORD,
} from './examples.ts'
import { operationsOf } from './operation.ts'
import { declareForOwners } from './owners.ts'

/** The operations of senders belong to this area, too. */
export const operation = operationsOf(
  'file requests',
  'Links with which others send files into a folder.',
)

const FileRequest = objectOf<FileRequestView>(
  'FileRequest',
  'A link with which others send files into a folder.',
  t => ({
    id: t.exposeID('id'),
    token: t.exposeString('token', { example: FILE_REQUEST_TOKEN }),
    link: t.exposeString('link', {
      description: 'The page for senders.',
      example: FILE_REQUEST_LINK,
    }),
    folder: t.exposeString('folder', {
      nullable: true,
      description: 'Path of its folder; null while the folder is in the trash.',
      example: FOLDER_PATH,
    }),
    label: t.exposeString('label', {
      description: 'What the request asks for.',
      example: 'Holiday pictures',
    }),
    message: t.exposeString('message', { example: 'Please send the large ones.' }),
    state: t.exposeString('state', {
      description: `${requestStates.join(', ')}.`,
      example: 'open',
    }),
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    expires_at: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    password_protected: t.exposeBoolean('passwordProtected'),
    asks_name: t.exposeBoolean('asksName'),
    notifies: t.exposeBoolean('notifies'),
    max_files: t.expose('maxFiles', { type: 'Long', nullable: true, example: 100 }),
    max_file_size: t.expose('maxFileBytes', {
      type: 'Long',
      nullable: true,
      description: 'Bytes.',
      example: BYTES,
    }),
    max_bytes: t.expose('maxBytes', {
      type: 'Long',
      nullable: true,
      description: 'Bytes.',
      example: BYTES,
    }),
    kinds: t.exposeStringList('kinds', {
      description: 'All kinds if empty.',
      example: ['.pdf', 'image/*'],
    }),
    files: t.expose('files', { type: 'Long', description: 'Files received.', example: 3 }),
    bytes: t.expose('bytes', { type: 'Long', description: 'Bytes received.', example: BYTES }),
  }),
)

const FileRequests = objectOf<{ rows: FileRequestView[]; nextCursor: string | null }>(
  'FileRequests',
  t => ({
    file_requests: t.field({ type: [FileRequest], resolve: page => page.rows }),
    next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  }),
)

const terms = (arg: Argument) => ({
  message: arg.string({
    description: `Up to ${figure(MAX_MESSAGE)} characters.`,
    example: 'Please send the large ones.',
  }),
  duration: arg.string({
    description: 'How long the request is open: 30m, 24h, 7d, 2w, 1mo, 1y, or never.',
    example: '7d',
  }),
  password: arg.string({ description: `1 to ${MAX_PASSWORD} characters.`, example: PASSWORD }),
  max_files: arg({
    type: 'Long',
    description: `Maximum number of files, 1 to ${figure(MAX_REQUESTED_FILES)}.`,
    example: 100,
  }),
  max_file_size: arg({ type: 'Long', description: 'Maximum bytes of one file.', example: BYTES }),
  max_bytes: arg({
    type: 'Long',
    description: 'Maximum bytes of all files together.',
    example: BYTES,
  }),
  kinds: arg.stringList({
    maxItems: MAX_KINDS,
    description: `Up to ${MAX_KINDS} extensions or media types.`,
    example: ['.pdf', 'image/*'],
  }),
  asks_name: arg.boolean({ description: 'Whether senders must give a name.', example: true }),
  notifies: arg.boolean({ description: 'Whether you get mails about new files.', example: true }),
})

const clearing = clearable({
  message: 'message',
  password: 'password',
  max_files: 'maxFiles',
  max_file_size: 'maxFileSize',
  max_bytes: 'maxBytes',
  kinds: 'kinds',
})

const inputOf = (
  given: Given<typeof terms> & { label?: string | null | undefined },
): RequestInput => ({
  label: given.label ?? undefined,
  message: given.message ?? undefined,
  duration: given.duration,
  password: given.password ?? undefined,
  maxFiles: given.max_files ?? undefined,
  maxFileSize: given.max_file_size ?? undefined,
  maxBytes: given.max_bytes ?? undefined,
  kinds: given.kinds ?? undefined,
  asksName: given.asks_name,
  notifies: given.notifies,
})

declareForOwners(
  operation,
  ({ whose, base, operation, name, denied }) => {
    const requests = `${base}/file_requests` as const

    operation(`POST ${requests}`, name('create', 'FileRequest'), {
      description: `Creates a link with which others send files into a folder of ${whose}.`,
      auth: { drive: 'request' },
      statuses: [400, 401, ...denied, 404],
      fails: ['INVALID_PATH', 'INVALID_DURATION', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND'],
      rateLimit: 'links',
      args: arg => ({
        folder: arg.string({
          description: 'Path of the folder; by default the root.',
          example: FOLDER_PATH,
        }),
        label: arg.string({
          required: true,
          description: `1 to ${MAX_LABEL} characters.`,
          example: 'Holiday pictures',
        }),
        ...terms(arg),
      }),
      type: FileRequest,
      resolve: async ({ folder, ...given }, { services, caller, tree }, info) => {
        // Hashing a password is expensive, and all callers share the processor.
        if (given.password) await services.rateLimits.hit('protected_links', caller.userId, info)
        return services.fileRequests.create(caller, tree, { path: folder ?? '' }, inputOf(given))
      },
    })

    operation(`GET ${requests}`, name('', 'FileRequests'), {
      description: `The open file requests of the caller for folders of ${whose}, oldest first.`,
      auth: { drive: 'request' },
      statuses: [400, 401, ...denied],
      args: paged,
      type: FileRequests,
      resolve: (page, { services, caller, tree }) => services.fileRequests.page(caller, tree, page),
    })

    operation(`PATCH ${requests}/{request_id}`, name('update', 'FileRequest'), {
      description: `Changes the terms of a file request for a folder of ${whose}. Its link stays the same; omitted terms are not changed.`,
      auth: { drive: 'request' },
      statuses: [400, 401, ...denied, 404],
      fails: ['INVALID_DURATION', 'FILE_REQUEST_NOT_FOUND'],
      rateLimit: 'links',
      args: arg => ({
        request_id: arg.id({ required: true }),
        label: arg.string({
          description: `1 to ${MAX_LABEL} characters.`,
          example: 'Holiday pictures',
        }),
        ...terms(arg),
        clear: clearing.argument(arg),
      }),
      type: FileRequest,
      resolve: async ({ request_id: id, clear, ...given }, { services, caller, tree }, info) => {
        if (given.password) await services.rateLimits.hit('protected_links', caller.userId, info)
        return services.fileRequests.update(caller, tree, id, {
          ...inputOf(given),
          ...clearing.read(clear),
        })
      },
    })

    operation(`DELETE ${requests}/{request_id}`, name('close', 'FileRequest'), {
      description: `Closes a file request for a folder of ${whose} permanently. Received files are kept.`,
      auth: { drive: 'request' },
      statuses: [401, ...denied, 404],
      fails: ['FILE_REQUEST_NOT_FOUND'],
      args: arg => ({ request_id: arg.id({ required: true }) }),
      type: FileRequest,
      resolve: ({ request_id: id }, { services, caller, tree }) =>
        services.fileRequests.close(caller, tree, id),
    })
  },
  operation,
)
