import { type Local, looksAsKnown } from './common.ts'
import {
  type Action,
  type Agreed,
  isFolder,
  isSameFile,
  type LocalItem,
  type RemoteItem,
  type Side,
  type Trees,
} from './sides.ts'
import { addTo, childrenOf, isSamePlace, type Node, pathOf, type Tree } from './tree.ts'

/**
 * Finds moves on one side since the last agreement, and repeats them on the other. If both sides
 * moved an entry, the remote place wins. The trees are updated. Impossible moves (the target
 * exists, or a folder would move into itself) are left to the comparison by path, which copies and
 * deletes.
 *
 * @param refused failed moves, which are not tried again
 */
export function planMoves(trees: Trees<Local>, refused: ReadonlySet<string> = new Set()): Action[] {
  const { local, base, remote } = trees
  const moves: Action[] = []
  const remotes = new Map<string, Node<RemoteItem>>()
  for (const node of remote.nodes()) if (node.entry) remotes.set(node.entry.id, node)
  const locals = new Map<string, Node<Local>[]>()
  for (const node of local.nodes())
    if (node.entry?.identity) addTo(locals, node.entry.identity, node)

  const isKnown = (node: Node<Local>) => base.at(pathOf(node))?.entry?.kind === node.entry?.kind
  const remoteOf = ({ entry }: Node<Agreed>) => {
    const found = entry && remotes.get(entry.id)
    return found?.entry?.kind === entry?.kind ? found : undefined
  }
  /** The local entry at the recorded path, or else the one with the recorded identity. */
  const localOf = (node: Node<Agreed>) => {
    const there = local.at(pathOf(node))
    if (there?.entry?.kind === node.entry?.kind) return there
    const alike = locals.get(node.entry?.identity ?? '') ?? []
    return alike.find(other => other.entry?.kind === node.entry?.kind && !isKnown(other))
  }
  /** Moves the record as well, replacing another record at the target. */
  const rebase = (node: Node<Agreed>, path: string) => {
    if (!isInside(path, pathOf(node)) && !isInside(pathOf(node), path)) base.move(node, path)
    else base.remove(node)
  }
  const carryOut = <E extends Local | RemoteItem>(
    side: Side,
    tree: Tree<E>,
    node: Node<E>,
    known: Node<Agreed>,
    path: string,
  ) => {
    const from = pathOf(node)
    if (refused.has(keyOf({ side, from, path })) || !isFree(tree, path) || isInside(path, from))
      return false
    // Programs may save by replacing the file, so the content counts.
    const { entry } = node
    const isLocal = entry !== undefined && 'identity' in entry
    const id = (isLocal ? entry.identity : known.entry?.id) ?? null
    const isAsKnown =
      known.entry &&
      entry &&
      (isLocal ? looksAsKnown.local(known.entry, entry) : looksAsKnown.remote(known.entry, entry))
    moves.push({
      side,
      action: 'move',
      id,
      from,
      path,
      ...(isAsKnown ? { isAsKnown } : {}),
      ...(entry?.kind === 'file' ? { size: entry.size } : {}),
      ...(known.entry?.kind === 'file' && !known.entry.seen
        ? { last: { id: known.entry.id, size: known.entry.size, md5: known.entry.md5 } }
        : {}),
    })
    tree.move(node, path)
    rebase(known, path)
    return true
  }

  const followRemote: Attempt = known => {
    const there = remoteOf(known)
    if (!there || isSamePlace(there, known)) return null
    const here = localOf(known)
    if (!here) return null
    // A new identity at the same path may mean that a program saved the file, or that the sync
    // downloaded it.
    const identity = here.entry?.identity ?? null
    if ((identity === null || identity !== known.entry?.identity) && remote.at(pathOf(known)))
      return null
    const path = pathOf(there)
    return {
      path,
      carryOut: () => {
        if (!isSamePlace(here, there)) return carryOut('local', local, here, known, path)
        rebase(known, path)
        return true
      },
    }
  }
  const followLocal: Attempt = known => {
    const there = remoteOf(known)
    if (!there || !isSamePlace(there, known) || local.at(pathOf(known))) return null
    const here = localOf(known)
    return here
      ? {
          path: pathOf(here),
          carryOut: () => carryOut('remote', remote, there, known, pathOf(here)),
        }
      : null
  }
  repeat(base, followRemote)
  repeat(base, followLocal)
  for (const { known, here } of alikeFiles(trees, isKnown)) {
    const there = remoteOf(known)
    if (there && isSamePlace(there, known) && isSameFile(known.entry, there.entry))
      carryOut('remote', remote, there, known, pathOf(here))
  }
  return moves
}

export const keyOf = ({
  side,
  from,
  path,
}: Partial<Pick<Action, 'side' | 'from'>> & Pick<Action, 'path'>): string =>
  JSON.stringify([side, from, path])

/** Returns null if the entry was not moved. */
type Attempt = (known: Node<Agreed>) => { path: string; carryOut(): boolean } | null

/**
 * Tries moves, outermost first, until none is left that works. Each move may free a path for
 * another.
 */
function repeat(base: Tree<Agreed>, attempt: Attempt): void {
  for (let hasMoved = true; hasMoved; ) {
    hasMoved = false
    const found: { known: Node<Agreed>; depth: number }[] = []
    const visit = (folder: Node<Agreed>) => {
      for (const known of childrenOf(folder).values()) {
        const move = known.entry && attempt(known)
        if (move) found.push({ known, depth: move.path.split('/').length })
        else visit(known)
      }
    }
    visit(base.root)
    for (const { known } of found.sort((a, b) => a.depth - b.depth)) {
      // Another entry may have moved to its place.
      const isThere = base.at(pathOf(known)) === known
      if (isThere && attempt(known)?.carryOut()) hasMoved = true
    }
  }
}

/**
 * New local files with the content of missing files; matches with the same name come first. Empty
 * files are never matched.
 */
function* alikeFiles({ local, base }: Trees<Local>, isKnown: (node: Node<Local>) => boolean) {
  const gone = [...base.nodes()].filter(
    node => node.entry?.kind === 'file' && node.entry.size > 0 && !local.at(pathOf(node)),
  )
  if (gone.length === 0) return
  const wanted = new Set(gone.map(node => node.entry?.md5))
  const made = new Map<string, Node<Local>[]>()
  for (const node of local.nodes()) {
    const { kind, md5 } = node.entry ?? {}
    if (kind === 'file' && md5 !== undefined && wanted.has(md5) && !isKnown(node))
      addTo(made, md5, node)
  }
  for (const isLike of [(a: string, b: string) => a === b, () => true])
    for (const known of gone) {
      const here = made.get(known.entry?.md5 ?? '')?.find(node => isLike(node.name, known.name))
      // An earlier pair may have used either entry.
      if (here && !local.at(pathOf(known)) && base.at(pathOf(known)) === known && !isKnown(here))
        yield { known, here }
    }
}

/** Whether a path is free, and its parents are folders or can be created. */
function isFree(tree: Tree<LocalItem | RemoteItem>, path: string): boolean {
  let node: Node<LocalItem | RemoteItem> | undefined = tree.root
  for (const name of path.split('/')) {
    if (!isFolder(node)) return false
    node = node.children?.get(name)
    if (!node) return true
  }
  return false
}

const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)
