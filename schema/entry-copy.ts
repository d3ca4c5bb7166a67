import type { Drive as DriveValue } from '../src/access/drive.ts'
import type { BackgroundCopy as BackgroundCopyView } from '../src/services/tree/background-copy.ts'
import type { Copied } from '../src/services/tree/entry-copy.ts'
import { figure, MAX_CHANGED, MAX_COPIED } from '../src/values/limits.ts'
import type { Tree } from '../src/values/tree.ts'
import { openDrive } from './access.ts'
import { BackgroundCopy } from './background-copy.ts'
import type { InputFields, ObjectFields } from './builder.ts'
import type { Context } from './context.ts'
import { entriesOf, inDrive } from './entry.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { OnConflict } from './enums.ts'
import { mutation } from './mutation.ts'
import { Drive, Entry, type EntryNode, Folder } from './refs.ts'

/** The error codes of every copy. */
const FAILS = [
  'INVALID_INPUT',
  'INVALID_PATH',
  'FILE_NOT_FOUND',
  'FOLDER_NOT_FOUND',
  'PATH_EXISTS',
  'FILE_TOO_LARGE',
  'QUOTA_EXCEEDED',
] as const

/** The destination of copies, and what to do if a name is taken. */
const place = (t: InputFields) => ({
  to: t.field({
    type: EntryRef,
    required: true,
    description: 'The destination folder, in any drive; missing folders of a path are created.',
  }),
  name: t.string({ description: 'A new name, for a single entry only.' }),
  onConflict: t.field({
    type: OnConflict,
    description:
      'What to do if the name is taken; by default FAIL. REPLACE does not replace folders.',
  }),
})

interface Copies extends Pick<Copied, 'toNames'> {
  copy: BackgroundCopyView | null
  drive: DriveValue
  tree: Tree
  entries: EntryNode[] | null
}

async function copiesOf(
  context: Context,
  { drive, tree }: { drive: DriveValue; tree: Tree },
  { ids, toNames, copyId }: Copied,
): Promise<Copies> {
  const { services, caller } = context
  const copy =
    copyId !== null && caller ? await services.backgroundCopies.find(caller, copyId) : null
  return { drive, tree, toNames, copy, entries: copy ? null : await entriesOf(context, drive, ids) }
}

/** The copies in a payload. @param sizedBy the argument whose list is as long */
const copies = (t: ObjectFields<Copies>, sizedBy: string) => ({
  entries: t.expose('entries', {
    type: [Entry],
    nullable: true,
    description:
      'The copies, in the order of the input; null while they are made in the background.',
    listSize: MAX_CHANGED,
    sizedBy,
  }),
  to: t.withAuth({ drive: 'read' }).field({
    type: Folder,
    nullable: true,
    description: 'The destination folder; null if it does not exist yet.',
    resolve: async ({ drive, toNames }, _args, { services, tree }) => {
      const folder = await services.entryLists.at(tree, toNames)
      return folder && inDrive(folder, drive)
    },
  }),
  copy: t.expose('copy', {
    type: BackgroundCopy,
    nullable: true,
    description: 'The progress of a background copy; null if the copies exist already.',
  }),
  drive: t.expose('drive', { type: Drive, description: 'The drive that received them.' }),
})

mutation('copyEntries', {
  description: `Copies files and folders with everything in them, within a drive or into another one: either all of them, or none. More than ${figure(MAX_COPIED)} are copied in the background (see "copy") and appear all at once. Copies count like uploads but share the stored bytes; versions, notes and shares are not copied. Needs the right to read the originals.`,
  auth: { drive: 'write' },
  fails: [...FAILS],
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_CHANGED,
      description: `The entries to copy: 1 to ${figure(MAX_CHANGED)} of one drive.`,
    }),
    ...place(t),
  }),
  on: ({ to }) => ({ entries: [to], at: 'input.to' }),
  resolve: async ({ entries, to, name, onConflict }, context) => {
    const { services, drive, tree, limits, caller } = context
    const how = { folder: nameOf(to), name: name ?? null, onConflict: drive.onConflict(onConflict) }
    const from = await openDrive(context, caller, { entries }, 'read')
    const source = { tree: from.tree, named: entries.map(nameOf) }
    return copiesOf(
      context,
      { drive, tree },
      await services.entryCopies.copy(source, { tree, limits, ...how }, caller),
    )
  },
  payload: t => copies(t, 'input.entries'),
})

mutation('saveSharedEntries', {
  description:
    'Copies shared files and folders into a drive of the caller, as copyEntries does: from a link, or from a share with the caller. Counts as one download.',
  auth: { drive: 'write' },
  fails: [
    ...FAILS,
    'SHARE_NOT_FOUND',
    'SHARE_EXPIRED',
    'SHARE_USED_UP',
    'PASSWORD_REQUIRED',
    'WRONG_PASSWORD',
    'TOO_MANY_ATTEMPTS',
  ],
  input: t => ({
    token: t.string({ required: true, description: 'The token of the share.' }),
    password: t.string({ description: 'The password, if the share asks for one.' }),
    paths: t.stringList({
      maxItems: MAX_CHANGED,
      description: `In a shared folder: up to ${figure(MAX_CHANGED)} files and folders, by paths that begin there; by default the shared folder itself.`,
    }),
    ...place(t),
  }),
  on: ({ to }) => ({ entries: [to], at: 'input.to' }),
  resolve: async ({ token, password, paths, to, name, onConflict }, context) => {
    const { services, drive, tree, limits, caller, address, client, log } = context
    const how = { folder: nameOf(to), name: name ?? null, onConflict: drive.onConflict(onConflict) }
    const visitor = { caller, address, client, log, password }
    const copied = await services.shareSaves.save(token, visitor, paths ?? [], {
      tree,
      limits,
      ...how,
    })
    return copiesOf(context, { drive, tree }, copied)
  },
  payload: t => copies(t, 'input.paths'),
})
