import { Failure } from '../failure.ts'
import { isSafeName, joinPath } from '../path.ts'
import type { Filter } from '../sync/filter.ts'
import { isOwnFolder } from '../sync/local-tree.ts'
import type { RemoteEntry, RemoteState } from '../sync/remote-tree.ts'
import type { Kind } from './sides.ts'
import { addChild, type Node, Tree } from './tree.ts'

/**
 * A remote entry in its tree. `other` is an entry that is impossible on this computer or not
 * synced.
 */
export type RemoteNode = Omit<RemoteEntry, 'kind'> & { kind: Kind }

export interface RemoteSide {
  tree: Tree<RemoteNode>
  /** The synced entries by path. */
  entries: Map<string, RemoteEntry>
  /** Failures for names that this computer does not allow. */
  failures: Failure[]
}

/** @param ignoresCase whether the local file system is case-insensitive */
export function remoteSide(
  { rootId, entries }: RemoteState,
  filter: Filter,
  ignoresCase: boolean,
): RemoteSide {
  const tree = new Tree<RemoteNode>()
  const found = new Map<string, RemoteEntry>()
  const failures: Failure[] = []
  const children = Map.groupBy(entries, entry => entry.parentId)

  function visit(parentId: string, parent: Node<RemoteNode>, at: string): void {
    const taken = new Map<string, string>()
    for (const entry of (children.get(parentId) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const { name, kind } = entry
      const path = joinPath(at, name)
      const twin = ignoresCase ? taken.get(name.toLowerCase()) : undefined
      const isNameable = isSafeName(name) && twin === undefined && !isOwnFolder(name)
      const takesPart = isNameable && filter.takes(path, kind)
      const isEntered = isNameable && kind === 'folder' && filter.enters(path)
      if (!isNameable) failures.push(unnameable(path, name, twin))
      else taken.set(name.toLowerCase(), name)
      const node: Node<RemoteNode> = {
        name,
        parent,
        children: undefined,
        entry: takesPart ? entry : isEntered ? undefined : { ...entry, kind: 'other' },
      }
      addChild(parent, node)
      if (takesPart) found.set(path, entry)
      if (isEntered) visit(entry.id, node, path)
    }
  }
  if (rootId !== null) visit(rootId, tree.root, '')
  return { tree, entries: found, failures }
}

function unnameable(path: string, name: string, twin: string | undefined): Failure {
  const why = isOwnFolder(name)
    ? 'satchel uses this name in synchronized folders'
    : twin === undefined
      ? `The name "${name}" is not allowed on this computer`
      : `This computer treats it as the same name as ${twin}`
  return new Failure('UNSAFE_NAME', `${path}: ${why}; it was skipped.`, { path })
}
