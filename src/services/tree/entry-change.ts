import { FOLDER } from '../../../db/models/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import { joinPath, parseFilePath, parseName } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { moveOnConflict } from './conflict.ts'
import { lockTree } from './entry.ts'
import { locateEntries } from './entry-location.ts'
import { type EntryName, namesOfFolder } from './entry-path.ts'
import { type Located, requireEmpty, type TreeDeps } from './entry-removal.ts'
import { type ExpectedRevision, isGiven, requireRevision } from './revision.ts'

/** The destination of entries, and the conflict rule. */
interface MoveOptions {
  /** The destination folder. Without it, the entries stay in their folders. */
  to: EntryName | null
  /** Only for a single entry. */
  name: string | null
  onConflict: OnConflict
  /** Whether a conflicting folder is replaced, too. */
  replacesFolders?: boolean
  expected: ExpectedRevision
}

/** Changes several entries of a tree at once: all or none. */
export function entryChangeService({ db, changeTree, removal, wake }: TreeDeps) {
  return {
    /**
     * Deletes entries with everything in them.
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT, FOLDER_NOT_EMPTY unless recursive
     */
    async remove(
      tree: Tree,
      named: readonly EntryName[],
      { recursive, expected }: { recursive: boolean; expected: ExpectedRevision },
      caller: Caller,
    ): Promise<{
      deletedIds: string[]
      trashIds: string[]
      filesDeleted: number
      leftIds: string[]
    }> {
      const done = await changeTree(tree, caller, async change => {
        const { tx } = change
        await lockTree(db, tree, tx)
        const all = await locateEntries(db, tree, named, tx)
        requireRevisionOf(all, expected)
        const gone = new Set(all.map(entry => entry.node.id))
        // The totals of a deleted folder include the selected entries inside it.
        const top = all.filter(entry => !entry.above.some(folder => gone.has(folder.id)))
        for (const { node, names } of top)
          if (node.kind === FOLDER) requireEmpty(tree, names, node, recursive)
        const trashIds = await removal.remove(tree, top, change)
        return {
          deletedIds: [...gone],
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
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT, PATH_EXISTS, QUOTA_EXCEEDED for created
     * folders
     */
    async move(
      tree: Tree,
      named: readonly EntryName[],
      { to, name, onConflict, replacesFolders, expected }: MoveOptions,
      caller: Caller,
    ): Promise<{ ids: string[]; leftIds: string[]; toNames: string[] | null }> {
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
        const all = await locateEntries(db, tree, named, tx)
        requireRevisionOf(all, expected)
        const moved = new Set(all.map(entry => entry.node.id))
        if (all.some(entry => entry.above.some(folder => moved.has(folder.id))))
          throw new InvalidInput(
            'entries',
            'One of these entries is inside another one. Name only the outer one.',
          )
        const toNames = to ? await namesOfFolder(db, tree, to, 'to', tx) : null
        const leaving = all.filter(({ node, names }) => {
          const folder = toNames ?? names.slice(0, -1)
          const destination = parseFilePath(
            joinPath([...folder, newName ?? names.at(-1) ?? '']),
            to ? 'to' : 'name',
          )
          if (joinPath(destination) === joinPath(names)) return false
          if (node.kind === FOLDER && names.every((part, i) => destination[i] === part))
            throw new AppError(
              'INVALID_PATH',
              'A folder cannot be moved into itself. Choose a destination outside of it.',
              { field: 'to' },
            )
          return true
        })
        const [first] = leaving
        if (first) {
          const folder = toNames ?? first.names.slice(0, -1)
          const place = { folder, name: newName, onConflict, replacesFolders }
          await moveOnConflict(db, tree, leaving, place, removal, change)
        }
        return { ids: [...moved], leftIds: [...new Set(all.map(entry => entry.parentId))], toNames }
      })
    },
  }
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
