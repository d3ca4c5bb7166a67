import type { Drive as DriveValue } from '../src/access/drive.ts'
import type { Lock } from '../src/services/tree/dav-lock.ts'
import { MAX_DAV_LOCKS_OF_ENTRY } from '../src/values/limits.ts'
import type { Tree } from '../src/values/tree.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import { entryOf } from './entry.ts'
import { mutation } from './mutation.ts'
import { personField } from './person.ts'
import { Drive, Entry } from './refs.ts'

/** A WebDAV lock in a drive that the caller may read. */
type LockNode = Lock & { drive: DriveValue }

const DavLock = builder.objectRef<LockNode>('DavLock').implement({
  description:
    'A lock set by a WebDAV client. WebDAV clients of other people cannot change the locked entries until it ends. Other interfaces ignore it.',
  fields: t => ({
    id: t.exposeID('id', { description: 'The id of the lock, which is the UUID of its token.' }),
    entry: t.field({
      type: Entry,
      nullable: true,
      description: 'The locked file or folder; null if it no longer exists.',
      resolve: ({ drive, entryId }, _args, context) => entryOf(context, drive, entryId),
    }),
    holder: personField(t, 'The person whose program set the lock.', ({ userId }) => userId),
    isShared: t.exposeBoolean('isShared', {
      description: 'Whether others can lock the same entry in shared mode.',
    }),
    isDeep: t.exposeBoolean('isDeep', {
      description: 'Whether the lock includes everything in the folder.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the lock was created.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When the lock expires, unless its program extends it.',
    }),
    mayEnd: t.boolean({
      description: 'Whether the caller may end the lock.',
      resolve: ({ drive, userId }, _args, { caller }) =>
        drive.mayEndLocks || (userId === caller?.userId && !drive.refusal('write')),
    }),
  }),
})

const locksOf = batch<[Tree], Lock[]>(({ services }, ids, tree) =>
  services.davLocks.ofEntries(tree, ids),
)

builder.interfaceField(Entry, 'locks', t =>
  t.withAuth({ drive: 'read' }).field({
    type: [DavLock],
    nullable: true,
    listSize: MAX_DAV_LOCKS_OF_ENTRY,
    description:
      'The active WebDAV locks on the entry, including those of folders above it that lock everything inside.',
    resolve: async ({ id }, _args, context) => {
      const { drive, tree } = context
      return ((await locksOf(context, id, tree)) ?? []).map(lock => ({ ...lock, drive }))
    },
  }),
)

mutation('endLock', {
  description:
    'Ends a WebDAV lock, so that other programs can change what it locked. The holder of the lock may end it, and so may the owner of the drive, or owners and admins of the workspace. The program of the holder can no longer save with this lock.',
  auth: { drive: 'write' },
  fails: ['LOCK_NOT_FOUND', 'FORBIDDEN'],
  input: t => ({ lock: t.id({ required: true, description: 'The id of the lock.' }) }),
  on: ({ lock }) => ({ lock }),
  resolve: async ({ lock: endedId }, { services, drive, tree, caller }) => {
    const { mayEndLocks: mayEndAny } = drive
    const { entryId } = await services.davLocks.endById(tree, { token: endedId, mayEndAny }, caller)
    return { drive, endedId, entryId }
  },
  payload: t => ({
    endedId: t.exposeID('endedId', { description: 'The id of the lock.' }),
    entry: t.withAuth({ drive: 'read' }).field({
      type: Entry,
      nullable: true,
      description: 'The entry that was locked; null for a key without a scope to read.',
      resolve: ({ drive, entryId }, _args, context) => entryOf(context, drive, entryId),
    }),
    drive: t.expose('drive', { type: Drive, description: 'The drive of the entry.' }),
  }),
})
