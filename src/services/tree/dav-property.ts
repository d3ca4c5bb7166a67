import { createHash } from 'node:crypto'
import type { Db, Tx } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import {
  copyProperties,
  deleteProperties,
  entriesWithProperties,
  insertProperties,
  propertiesOf,
  propertyBytesOf,
} from '../../../db/queries/dav-property.ts'
import { entriesOf, markChanged } from '../../../db/queries/entry.ts'
import type { Node } from '../../../db/queries/entry-path.ts'
import { setModifiedAt } from '../../../db/queries/picture.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import {
  MAX_DAV_PROPERTIES,
  MAX_DAV_PROPERTY_BYTES,
  MAX_DAV_PROPERTY_BYTES_OF_DRIVE,
} from '../../values/limits.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { lockTree, type TreeChangeRunner } from './entry.ts'
import { fileNotFound, findEntry } from './entry-path.ts'
import { type ExpectedRevision, requireRevision } from './revision.ts'
import { noTrunk } from './trunk.ts'

/** The name of a property. */
export interface PropertyName {
  ns: string
  name: string
}

/** A change of a property: its new element, or null to remove it. */
export interface PropertyChange extends PropertyName {
  content: string | null
}

/** Property elements by the hashes of their names. */
export type Properties = ReadonlyMap<string, string>

export const propertyHash = ({ ns, name }: PropertyName): string =>
  createHash('sha256').update(`${ns}\n${name}`).digest('hex')

/** The changes of one entry. */
interface PropertyChanges {
  changes: readonly PropertyChange[]
  modifiedAt?: number | null | undefined
  expected: ExpectedRevision
}

interface Deps extends Core<'db'> {
  changeTree: TreeChangeRunner
}

/**
 * Dead properties of files and folders (RFC 4918, section 4): XML that WebDAV clients store and the
 * service does not interpret.
 */
export function davPropertyService({ db, changeTree }: Deps) {
  /**
   * The entry at a path, and the folders above it in its tree. The entry is null for the top folder
   * of a tree.
   */
  async function find(
    tree: Tree,
    names: string[],
    tx: Tx,
  ): Promise<{ node: Node | null; above: Node[] } | undefined> {
    if (names.length > 0) return findEntry(db, tree, names, tx)
    const [file = null] = tree.share?.isFile
      ? await entriesOf(db, tree.bucketId, [tree.rootId], tx)
      : []
    return { node: file, above: [] }
  }

  return {
    /** The ids of those entries that have properties. Often there are none. */
    having: (entryIds: readonly string[]): Promise<string[]> => entriesWithProperties(db, entryIds),

    /**
     * The property elements of some entries. Does not authorize: pass only entries that the caller
     * may see.
     */
    async of(entryIds: readonly string[]): Promise<Map<string, Properties>> {
      const found = await propertiesOf(db, entryIds)
      return new Map(
        [...found].map(([id, rows]) => [id, new Map(rows.map(row => [row.nameHash, row.content]))]),
      )
    },

    /**
     * Changes properties of the entry at a path, in their order: all of them or none.
     * @param modifiedAt the modification time of a file's content; null for its upload time. A
     * changed time creates no version and no event (docs/decisions/file-times.md)
     * @param expected the revision that the entry must have; the root folder of a tree has none
     * @throws FILE_NOT_FOUND, QUOTA_EXCEEDED, REVISION_MISMATCH
     */
    async change(
      tree: Tree,
      names: string[],
      { changes, modifiedAt, expected }: PropertyChanges,
      caller: Caller,
    ): Promise<void> {
      const last = new Map(changes.map(one => [propertyHash(one), one.content]))
      await changeTree(tree, caller, async ({ tx, trunk = noTrunk }) => {
        await lockTree(db, tree, tx)
        const found = await find(tree, names, tx)
        if (found === undefined) throw fileNotFound(tree, names)
        const { node, above } = found
        if (node) requireRevision(node, expected)
        const entryId = node?.id ?? tree.rootId
        const changed = [...trunk.folders, ...above].map(({ id }) => id)
        await markChanged(db, node?.kind === FOLDER ? [...changed, node.id] : changed, tx)
        if (modifiedAt !== undefined) await setModifiedAt(db, entryId, modifiedAt, tx)
        if (last.size === 0) return
        await deleteProperties(db, entryId, [...last.keys()], tx)
        const { bucketId } = tree
        const rows = [...last].flatMap(([nameHash, content]) =>
          content === null
            ? []
            : [{ entryId, bucketId, nameHash, content, bytes: Buffer.byteLength(content) }],
        )
        const all = [...((await propertiesOf(db, [entryId], tx)).get(entryId) ?? []), ...rows]
        if (all.length > MAX_DAV_PROPERTIES)
          throw full(`A file or folder has up to ${MAX_DAV_PROPERTIES} properties. Remove some.`)
        if (all.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_DAV_PROPERTY_BYTES)
          throw propertiesTooLarge()
        if (rows.length === 0) return
        await insertProperties(db, rows, tx)
        await requirePropertyRoom(db, bucketId, tx)
      })
    },
  }
}

/**
 * Checks the properties of a locked drive after some have been added.
 * @throws QUOTA_EXCEEDED
 */
async function requirePropertyRoom(db: Db, bucketId: string, tx: Tx): Promise<void> {
  if ((await propertyBytesOf(db, bucketId, tx)) > MAX_DAV_PROPERTY_BYTES_OF_DRIVE)
    throw full(
      `The properties in a drive have up to ${MAX_DAV_PROPERTY_BYTES_OF_DRIVE} bytes. Remove some, or delete files that have them.`,
    )
}

/**
 * Copies properties to copies of entries in a locked drive.
 * @throws QUOTA_EXCEEDED
 */
export async function copyPropertiesTo(
  db: Db,
  bucketId: string,
  copies: readonly { sourceId: string; id: string }[],
  tx: Tx,
): Promise<void> {
  if ((await copyProperties(db, bucketId, copies, tx)) > 0)
    await requirePropertyRoom(db, bucketId, tx)
}

const full = (message: string) => new AppError('QUOTA_EXCEEDED', message)

export const propertiesTooLarge = () =>
  full(
    `The properties of a file or folder have up to ${MAX_DAV_PROPERTY_BYTES} bytes. Set smaller ones.`,
  )
