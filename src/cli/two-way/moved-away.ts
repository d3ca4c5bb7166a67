import {
  type Agreed,
  isSameFile,
  type LocalItem,
  otherSide,
  type RemoteItem,
  type Side,
  type Trees,
} from './sides.ts'
import { addTo, type Node, pathOf } from './tree.ts'

/**
 * Finds files that are missing at a path on one side because they were moved there, while the move
 * on the other side failed or is impossible. They must be copied before the old path is deleted.
 * Otherwise only one side would have the version, or only the trash if the copy failed, too.
 */
export function movedAway({ local, base, remote }: Trees): (side: Side, known: Agreed) => boolean {
  const trees = { local, remote }
  const found: Partial<Record<Side, Map<string, Node<LocalItem | RemoteItem>[]>>> = {}

  function filesOf(side: Side): Map<string, Node<LocalItem | RemoteItem>[]> {
    const known = found[side]
    if (known) return known
    const files = new Map<string, Node<LocalItem | RemoteItem>[]>()
    for (const node of trees[side].nodes()) {
      const { entry } = node
      if (entry?.kind !== 'file') continue
      const self = 'id' in entry ? entry.id : entry.identity
      // A file with the same content that existed before is a different file.
      const isNew = entry.size > 0 && entry.md5 !== undefined && !base.at(pathOf(node))?.entry
      for (const key of [self, ...(isNew ? [entry.md5] : [])])
        if (key !== null && key !== undefined) addTo(files, key, node)
    }
    found[side] = files
    return files
  }

  return (side, { id, identity, md5 }) => {
    const files = filesOf(otherSide(side))
    const self = side === 'local' ? id : identity
    const alike = [...(files.get(self ?? '') ?? []), ...(files.get(md5) ?? [])]
    return alike.some(
      node => !isSameFile(trees[side].at(pathOf(node))?.entry as LocalItem | undefined, node.entry),
    )
  }
}
