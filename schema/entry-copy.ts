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

/** With what every copy fails. */
const FAILS = [
  'INVALID_INPUT',
  'INVALID_PATH',
  'FILE_NOT_FOUND',
  'FOLDER_NOT_FOUND',
  'PATH_EXISTS',
  'FILE_TOO_LARGE',
  'QUOTA_EXCEEDED',
] as const

/** Where copies go, and how. */
const place = (t: InputFields) => ({
  to: t.field({
    type: EntryRef,
    required: true,
    description: 'The folder that the copies go into, of any drive; missing ones of a path are made.',
  }),
  name: t.string({ description: 'Another name, for one entry only.' }),
  onConflict: t.field({
    type: OnConflict,
    description: 'What to do when something of its name is there; FAIL without it. REPLACE replaces no folders.',
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
  const copy = copyId !== null && caller ? await services.backgroundCopies.find(caller, copyId) : null
  return { drive, tree, toNames, copy, entries: copy ? null : await entriesOf(context, drive, ids) }
}

/** The copies in a payload. @param sizedBy the argument that says how many there are */
const copies = (t: ObjectFields<Copies>, sizedBy: string) => ({
  entries: t.expose('entries', {
    type: [Entry],
    nullable: true,
    description: 'The copies, in the order of what is copied; null while they are made in the background.',
    ...{ listSize: MAX_CHANGED, sizedBy },
  }),
  to: t.withAuth({ drive: 'read' }).field({
    type: Folder,
    nullable: true,
    description: 'The folder that they went into; null where it is still to be made.',
    resolve: async ({ drive, toNames }, _args, { services, tree }) => {
      const folder = await services.entryLists.at(tree, toNames)
      return folder && inDrive(folder, drive)
    },
  }),
  copy: t.expose('copy', {
    type: BackgroundCopy,
    nullable: true,
    description: 'How far they are, where they are made in the background; null where they are there.',
  }),
  drive: t.expose('drive', { type: Drive, description: 'The drive that they went into.' }),
})

mutation('copyEntries', {
  description: `Copies files and folders with all that is in them, within a drive or into another one: all of them, or none. More than ${figure(MAX_COPIED)} are copied in the background (see "copy"), and appear all at once. Copies are counted like uploads, and need no bytes of their own; versions, notes and shares are not copied. Needs the right to read where they are.`,
  auth: { drive: 'write' },
  fails: [...FAILS],
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_CHANGED,
      description: `What is copied: 1 to ${figure(MAX_CHANGED)} entries of one drive.`,
    }),
    ...place(t),
  }),
  on: ({ to }) => ({ entries: [to], at: 'input.to' }),
  resolve: async ({ entries, to, name, onConflict }, context) => {
    const { services, drive, tree, limits, caller } = context
    const how = { folder: nameOf(to), name: name ?? null, onConflict: drive.onConflict(onConflict) }
    const from = await openDrive(context, caller, { entries }, 'read')
    const source = { tree: from.tree, named: entries.map(nameOf) }
    return copiesOf(context, { drive, tree }, await services.entryCopies.copy(source, { tree, limits, ...how }, caller))
  },
  payload: t => copies(t, 'input.entries'),
})

mutation('saveSharedEntries', {
  description:
    'Copies what is behind a link, or shared with the caller, into a drive of theirs, as copyEntries does. Counts as one download.',
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
    password: t.string({ description: 'The password, where the share asks for one.' }),
    paths: t.stringList({
      maxItems: MAX_CHANGED,
      description: `In a shared folder: up to ${figure(MAX_CHANGED)} files and folders by their paths from there; the shared folder itself without it.`,
    }),
    ...place(t),
  }),
  on: ({ to }) => ({ entries: [to], at: 'input.to' }),
  resolve: async ({ token, password, paths, to, name, onConflict }, context) => {
    const { services, drive, tree, limits, caller, address, client, log } = context
    const how = { folder: nameOf(to), name: name ?? null, onConflict: drive.onConflict(onConflict) }
    const visitor = { caller, address, client, log, password }
    const copied = await services.shareSaves.save(token, visitor, paths ?? [], { tree, limits, ...how })
    return copiesOf(context, { drive, tree }, copied)
  },
  payload: t => copies(t, 'input.paths'),
})
