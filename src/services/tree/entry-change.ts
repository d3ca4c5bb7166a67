import { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import { joinPath, parseFilePath, parseName } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { moveOnConflict } from './conflict.ts'
import { lockTree, pathExists } from './entry.ts'
import { locateEntries, type Wanted } from './entry-location.ts'
import { type EntryName, namesOfFolder } from './entry-path.ts'
import { type Located, requireEmpty, type TreeDeps } from './entry-removal.ts'
import { type ExpectedRevision, isGiven, requireRevision } from './revision.ts'

/** The required kind of the named entries. */
interface EntryOptions extends Wanted {
  expected: ExpectedRevision
}

interface RemovalOptions extends EntryOptions {
  /** Whether to delete folders that are not empty. */
  recursive: boolean
}

/** The destination of entries, and the conflict rule. */
interface MoveOptions extends EntryOptions {
  /** The destination folder. Without it, the entries stay in their folders. */
  to: EntryName | null
  /** The input field of the destination, for errors; `to` by default. */
  toField?: string
  /** Only for a single entry. */
  name: string | null
  onConflict: OnConflict
  /** Whether an entry may already be at its destination; true by default. */
  mayStay?: boolean
  /** Whether a conflicting folder is replaced, too. */
  replacesFolders?: boolean
}

/** A moved entry. An entry that is there already stays as it is. */
interface Moved {
  id: string
  from: string[]
  to: string[]
  /** The number of files in it; 1 for a file. */
  files: number
  revision: number
}

/**
 * Moves and deletes entries of a tree: all of them or none. Every interface does this by these two
 * functions.
 */
export function entryChangeService({ db, changeTree, removal, wake }: TreeDeps) {
  return {
    /**
     * Deletes entries with everything in them. It detaches their rows, so the contents disappear at
     * once for every user, at a cost independent of their size. A job purges them afterwards.
     * @throws FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_PATH, INVALID_INPUT, FOLDER_NOT_EMPTY
     * unless recursive
     */
    async remove(
      tree: Tree,
      named: readonly EntryName[],
      { recursive, expected, ...wanted }: RemovalOptions,
      caller: Caller,
    ): Promise<{
      deletedIds: string[]
      /** The paths of the deleted entries that were in no other one. */
      deleted: string[][]
      trashIds: string[]
      filesDeleted: number
      leftIds: string[]
    }> {
      const done = await changeTree(tree, caller, async change => {
        const { tx } = change
        await lockTree(db, tree, tx)
        const all = await locateEntries(db, tree, named, tx, wanted)
        requireRevisionOf(all, expected)
        const gone = new Set(all.map(entry => entry.node.id))
        // The totals of a deleted folder include the selected entries inside it.
        const top = all.filter(entry => !entry.above.some(folder => gone.has(folder.id)))
        for (const { node, names } of top)
          if (node.kind === FOLDER) requireEmpty(tree, names, node, recursive)
        const trashIds = await removal.remove(tree, top, change)
        return {
          deletedIds: [...gone],
          deleted: top.map(({ names }) => names),
          trashIds,
          filesDeleted: top.reduce((sum, entry) => sum + entry.node.files, 0),
          leftIds: [...new Set(top.map(entry => entry.parentId))],
        }
      })
      wake()
      return done
    },

    /**
     * Moves entries into a folder, or renames one. The cost does not depend on their contents.
     * @throws FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_PATH, INVALID_INPUT, PATH_EXISTS,
     * QUOTA_EXCEEDED for created folders
     */
    async move(
      tree: Tree,
      named: readonly EntryName[],
      {
        to,
        toField = 'to',
        name,
        onConflict,
        mayStay = true,
        replacesFolders,
        expected,
        ...wanted
      }: MoveOptions,
      caller: Caller,
    ): Promise<{ moved: Moved[]; leftIds: string[]; toNames: string[] | null }> {
      if (!to && name === null)
        throw new InvalidInput(
          'to',
          'Give the destination of the entries, or a new name for one entry.',
        )
      if (name !== null && named.length !== 1)
        throw new InvalidInput('name', 'A name can only be given for one entry.')
      const newName = name === null ? null : parseName(name, 'name')
      return changeTree(tree, caller, async change => {
        const { tx } = change
        await lockTree(db, tree, tx)
        const all = await locateEntries(db, tree, named, tx, wanted)
        requireRevisionOf(all, expected)
        requireApart(all)
        const toNames = to ? await namesOfFolder(db, tree, to, toField, tx) : null
        const leaving = all.filter(({ node, names }) => {
          const folder = toNames ?? names.slice(0, -1)
          const destination = parseFilePath(
            joinPath([...folder, newName ?? names.at(-1) ?? '']),
            to ? toField : 'name',
          )
          if (joinPath(destination) === joinPath(names)) {
            if (mayStay) return false
            if (node.kind === FILE) throw pathExists(tree, names)
          }
          if (node.kind === FOLDER && names.every((part, i) => destination[i] === part))
            throw new AppError(
              'INVALID_PATH',
              'A folder cannot be moved into itself. Choose a destination outside of it.',
              { field: toField },
            )
          return true
        })
        const [first] = leaving
        const folder = toNames ?? first?.names.slice(0, -1) ?? []
        const place = { folder, name: newName, onConflict, replacesFolders }
        const given = first ? await moveOnConflict(db, tree, leaving, place, removal, change) : []
        return {
          moved: all.map(entry => movedTo(entry, folder, given[leaving.indexOf(entry)])),
          leftIds: [...new Set(all.map(entry => entry.parentId))],
          toNames,
        }
      })
    },
  }
}

/** @param name the new name; undefined for an entry that stays */
const movedTo = (
  { node: { id, files, revision }, names }: Located,
  folder: string[],
  name: string | undefined,
): Moved => ({
  id,
  from: names,
  to: name === undefined ? names : [...folder, name],
  files,
  revision: name === undefined ? revision : revision + 1,
})

/** @throws INVALID_INPUT if an entry is inside another one */
function requireApart(entries: Located[]): void {
  const ids = new Set(entries.map(entry => entry.node.id))
  if (entries.some(entry => entry.above.some(folder => ids.has(folder.id))))
    throw new InvalidInput(
      'entries',
      'One of these entries is inside another one. Name only the outer one.',
    )
}

/** @throws REVISION_MISMATCH, INVALID_INPUT */
function requireRevisionOf(entries: Located[], expected: ExpectedRevision): void {
  if (isGiven(expected) && entries.length !== 1)
    throw new InvalidInput(
      'expectedRevision',
      'A revision can only be given for one entry. Name one entry, or leave the revision out.',
    )
  requireRevision(entries[0]?.node, expected)
}
