import type { Drive } from '../../src/access/drive.ts'
import { AppError, EarlierError } from '../../src/runtime/errors.ts'
import type { BackgroundCopy } from '../../src/services/tree/background-copy.ts'
import type { Copied } from '../../src/services/tree/entry-copy.ts'
import { figure, MAX_CHANGED, MAX_COPIED, MAX_PASSWORD } from '../../src/values/limits.ts'
import { openDrive, type Subject } from '../base.ts'
import type { Context } from '../context.ts'
import { onConflict } from './arguments.ts'
import { type Argument, type DriveContext, objectOf } from './builder.ts'
import { OPENING_FAILS } from './downloads.ts'
import { FILE_PATH, FOLDER_PATH, PASSWORD, SHARE_TOKEN } from './examples.ts'
import { operationsOf } from './operation.ts'
import { declareForOwners } from './owners.ts'

const operation = operationsOf(
  'copies',
  'Copies of files and folders, which share the stored bytes.',
)

const CopiedEntry = objectOf<{ id: string; path: string }>('CopiedEntry', t => ({
  id: t.exposeID('id', { description: 'The id of the copy.' }),
  path: t.exposeString('path', { description: 'Its place.', example: FILE_PATH }),
}))

const CopiedEntries = objectOf<{ copies: { id: string; path: string }[] }>('CopiedEntries', t => ({
  copies: t.expose('copies', { type: [CopiedEntry], description: 'In the order of the input.' }),
}))

/** The error codes of every copy. */
const FAILS = [
  'INVALID_PATH',
  'FILE_NOT_FOUND',
  'FOLDER_NOT_FOUND',
  'PATH_EXISTS',
  'FILE_TOO_LARGE',
  'QUOTA_EXCEEDED',
] as const

/** The destination of copies, and what to do if a name is taken. */
const place = (arg: Argument) => ({
  folder: arg.string({
    description:
      'Path of the destination folder; the root by default. Missing folders are created.',
    example: FOLDER_PATH,
  }),
  name: arg.string({ description: 'A new name, for a single entry only.', example: 'copy.pdf' }),
  on_conflict: arg.string(onConflict),
})

const driveAt = (workspaceId: string | null | undefined): Subject =>
  typeof workspaceId === 'string' ? { workspaceId } : { driveId: null }

type Made = { copies: { id: string; path: string }[] }

async function made({ services }: Context, drive: Drive, ids: string[]): Promise<Made> {
  const found = await services.entryLists.byIds(ids)
  const copies = ids.flatMap(id => {
    const entry = found.get(id)
    return entry ? [{ id, path: drive.pathOf(entry.names) }] : []
  })
  return { copies }
}

/** The copies; null with status 202 while they are made in the background. */
async function outcomeOf(
  context: Context,
  drive: Drive,
  copy: BackgroundCopy,
): Promise<Made | null> {
  const {
    id,
    state,
    failure,
    entries: entry_count,
    bytes: size,
    copied,
    copiedBytes: copied_size,
  } = copy
  if (failure) throw new EarlierError(failure)
  if (state === 'cancelled')
    throw new AppError('COPY_NOT_FOUND', 'This copy was cancelled, and nothing was copied.')
  if (state === 'done') return made(context, drive, copy.ids)
  const value = { copy_id: id, entry_count, size, copied, copied_size }
  const base = drive.workspace ? `/api/workspaces/${drive.workspace.id}` : '/api'
  context.shared.accepted = { location: `${base}/copies/${id}`, value, isPreferred: false }
  return null
}

async function copiesOf(context: DriveContext, { ids, copyId }: Copied): Promise<Made | null> {
  const { services, caller, drive } = context
  if (copyId === null) return made(context, drive, ids)
  return outcomeOf(context, drive, await services.backgroundCopies.find(caller, copyId))
}

operation('POST /api/copies', 'copyEntries', {
  description: `Copies files and folders with everything in them, within a drive or into another one: either all of them, or none. More than ${figure(MAX_COPIED)} are copied in the background: 202, with \`Location\`.`,
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: FAILS,
  defers: true,
  args: arg => ({
    ...place(arg),
    entries: arg.stringList({
      required: true,
      maxItems: MAX_CHANGED,
      description: `Full paths of 1 to ${figure(MAX_CHANGED)} files and folders of one drive.`,
      example: [FILE_PATH],
    }),
    from_workspace_id: arg.id({
      description: "Their workspace; by default the caller's own drive.",
    }),
    to_workspace_id: arg.id({
      description: "The destination workspace; by default the caller's own drive.",
    }),
  }),
  on: ({ to_workspace_id: workspaceId }) => driveAt(workspaceId),
  type: CopiedEntries,
  resolve: async (
    { entries, folder, name, on_conflict: choice, from_workspace_id: workspaceId },
    context,
  ) => {
    const { services, caller, drive, tree, limits } = context
    const how = {
      folder: { path: folder ?? '' },
      name: name ?? null,
      onConflict: drive.onConflict(choice),
    }
    const from = await openDrive(context, caller, driveAt(workspaceId), 'read')
    const source = { tree: from.tree, named: entries.map(path => ({ path })) }
    return copiesOf(
      context,
      await services.entryCopies.copy(source, { tree, limits, ...how }, caller),
    )
  },
})

operation('POST /api/share/save/{token}', 'saveSharedEntries', {
  description:
    "Copies shared files and folders into the caller's own drive: from a link, or from a share with the caller. Counts as one download. A direct share opens only for its recipient and its sharer.",
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: [...OPENING_FAILS.filter(code => code !== 'INVALID_MODE'), 'FORBIDDEN', ...FAILS],
  defers: true,
  args: arg => ({
    ...place(arg),
    password: arg.string({ description: `1 to ${MAX_PASSWORD} characters.`, example: PASSWORD }),
    paths: arg.stringList({
      maxItems: MAX_CHANGED,
      description: `In a shared folder: up to ${figure(MAX_CHANGED)} files and folders, by paths that begin there; by default the shared folder itself.`,
      example: ['report.pdf'],
    }),
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: CopiedEntries,
  resolve: async ({ token, paths, password, folder, name, on_conflict: choice }, context) => {
    const { services, caller, drive, tree, limits, address, client, log } = context
    const how = {
      folder: { path: folder ?? '' },
      name: name ?? null,
      onConflict: drive.onConflict(choice),
    }
    const visitor = { caller, address, client, log, password }
    return copiesOf(
      context,
      await services.shareSaves.save(token, visitor, paths ?? [], { tree, limits, ...how }),
    )
  },
})

const CancelledCopy = objectOf<{ id: string; state: string }>('CancelledCopy', t => ({
  copy_id: t.exposeID('id'),
  state: t.exposeString('state', {
    description: 'cancelled; done or failed if it had ended before',
    example: 'cancelled',
  }),
}))

/** A copy of the caller into a drive. @throws COPY_NOT_FOUND */
async function copyInto(
  { services, caller, drive }: DriveContext,
  id: string,
): Promise<BackgroundCopy> {
  const copy = await services.backgroundCopies.findIfAny(caller, id)
  if (copy?.bucketId !== drive.id)
    throw new AppError(
      'COPY_NOT_FOUND',
      'You have no such copy here. A copy is listed for a day after it has ended.',
    )
  return copy
}

declareForOwners(
  operation,
  ({ whose, base, operation, name, denied }) => {
    const path = `${base}/copies/{copy_id}` as const

    operation(`GET ${path}`, name('', 'Copy'), {
      description: `The result of a background copy into a drive of ${whose}: 202 while it runs, then the copies, or the error. It is available for a day.`,
      auth: { drive: 'write' },
      statuses: [400, 401, 403, 404, 409],
      fails: [...FAILS, 'COPY_NOT_FOUND', 'FORBIDDEN', 'SHARE_NOT_FOUND', 'SHARE_EXPIRED'],
      defers: true,
      args: arg => ({ copy_id: arg.id({ required: true }) }),
      type: CopiedEntries,
      resolve: async ({ copy_id: id }, context) =>
        outcomeOf(context, context.drive, await copyInto(context, id)),
    })

    operation(`DELETE ${path}`, name('cancel', 'Copy'), {
      description: `Cancels a background copy into a drive of ${whose}: nothing is copied.`,
      auth: { drive: 'write' },
      statuses: [401, ...denied, 404],
      fails: ['COPY_NOT_FOUND'],
      args: arg => ({ copy_id: arg.id({ required: true }) }),
      type: CancelledCopy,
      resolve: async ({ copy_id: id }, context) => {
        await copyInto(context, id)
        return context.services.backgroundCopies.cancel(context.caller, id)
      },
    })
  },
  operation,
)
