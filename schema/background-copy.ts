import type {
  CopyFailure as Failure,
  BackgroundCopy as View,
} from '../src/services/tree/background-copy.ts'
import { MAX_CHANGED } from '../src/values/limits.ts'
import { findDrive, openDrive } from './access.ts'
import { builder } from './builder.ts'
import { entriesOf } from './entry.ts'
import { BackgroundCopyState, ErrorCode } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { Drive, Entry } from './refs.ts'
import { Viewer } from './viewer.ts'

/** The maximum number of copies in the list. */
const LISTED = 100

const CopyFailure = builder.objectRef<Failure>('CopyFailure').implement({
  description: 'Why a copy failed. Nothing was copied.',
  fields: t => ({
    code: t.field({ type: ErrorCode, description: 'For programs.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'An explanation that says what to do.' }),
  }),
})

export const BackgroundCopy = builder.objectRef<View>('BackgroundCopy').implement({
  description:
    'A copy of many entries that continues after its request. The copies appear all at once when it ends. Only the person who started it sees it, until a day after it has ended.',
  interfaces: [Node],
  fields: t => ({
    state: t.expose('state', {
      type: BackgroundCopyState,
      description: 'Whether it is running, done, cancelled or failed.',
    }),
    entryCount: t.exposeInt('entries', {
      description: 'Number of files and folders to be copied, counted when it began.',
    }),
    size: t.expose('bytes', { type: 'Bytes', description: 'Bytes of these files.' }),
    copiedCount: t.exposeInt('copied', {
      description: 'Number of files and folders copied so far.',
    }),
    copiedSize: t.expose('copiedBytes', { type: 'Bytes', description: 'Bytes of these files.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    failure: t.expose('failure', {
      type: CopyFailure,
      nullable: true,
      description: 'Why it failed.',
    }),
    drive: t.withAuth({ signedIn: true }).field({
      type: Drive,
      nullable: true,
      description:
        'The drive that receives the copies; null if the caller no longer has access to it.',
      resolve: ({ bucketId }, _args, context) => findDrive(context, context.caller, bucketId),
    }),
    entries: t.withAuth({ signedIn: true }).field({
      type: [Entry],
      nullable: true,
      description: 'The copies, once it is done, in the order of the input.',
      listSize: MAX_CHANGED,
      resolve: async ({ state, ids, bucketId }, _args, context) => {
        const drive = state === 'done' ? await findDrive(context, context.caller, bucketId) : null
        return drive && entriesOf(context, drive, ids)
      },
    }),
  }),
})

findable('entry_copy', 'BackgroundCopy', async (context, caller, id) => {
  const found = await context.services.backgroundCopies.findIfAny(caller, id)
  const drive = found && (await findDrive(context, caller, found.bucketId))
  drive?.open('write')
  return drive ? found : null
})

builder.objectFields(Viewer, t => ({
  copies: t.withAuth({ privateFiles: 'read' }).field({
    type: [BackgroundCopy],
    description:
      'The background copies of the caller that are running or have ended within a day, latest first.',
    listSize: LISTED,
    resolve: (_viewer, _args, { services, caller }) => services.backgroundCopies.list(caller),
  }),
}))

mutation('cancelCopy', {
  description:
    'Cancels a background copy: nothing is copied. A copy that has ended is not changed.',
  auth: { signedIn: true },
  fails: ['COPY_NOT_FOUND'],
  input: t => ({ copy: t.id({ required: true, description: 'Its id.' }) }),
  resolve: async ({ copy: id }, context) => {
    const { services, caller } = context
    const { bucketId } = await services.backgroundCopies.find(caller, id)
    await openDrive(context, caller, { driveId: bucketId }, 'write')
    return { copy: await services.backgroundCopies.cancel(caller, id) }
  },
  payload: t => ({
    copy: t.expose('copy', { type: BackgroundCopy, description: 'The copy as it is now.' }),
  }),
})
