import { joinPath } from '../path.ts'
import { conflictPath } from './conflict-name.ts'
import { planMoves } from './moves.ts'
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
import { childrenOf, type Node } from './tree.ts'

export interface Plan {
  /** Moves alone, if there are any: what is left is planned anew when they are done. */
  actions: Action[]
  /** What both sides have, and what they had where they differ now: by paths. Null if that is as before. */
  agreed: Map<string, Agreed> | null
  /** Files that are the same on both sides. */
  unchanged: number
}

type Local = LocalItem & Pick<Agreed, 'mtimeMs' | 'ctimeMs'>

export interface Options {
  /** For the names of conflicts. */
  label: string
  /** Moves that are not tried again. */
  refused?: ReadonlySet<string>
  /** The contents of files that both sides had after they agreed last, by path; null for what was deleted on both. */
  sent?: ReadonlyMap<string, Pick<Agreed, 'size' | 'md5'> | null>
}

/**
 * Compares both sides with what they agreed on last: a change on one side is made on the other, too. What changed on both is kept twice,
 * and of a deletion and a change the change stays. Nothing is done here; the trees are changed.
 */
export function plan(trees: Trees<Local>, { label, refused, sent }: Options): Plan {
  for (const [path, content] of sent ?? []) {
    const known = trees.base.at(path)
    // What is there again is new; what was replaced is another file.
    if (known && content === null) trees.base.remove(known)
    else if (known?.entry && content && known.entry.md5 !== content.md5)
      known.entry = { ...known.entry, ...content, identity: null, mtimeMs: 0, ctimeMs: 0 }
  }
  const moves = planMoves(trees, refused)
  if (moves.length > 0) return { actions: moves, agreed: null, unchanged: 0 }
  const { local, base, remote } = trees
  const result = { actions: [] as Action[], agreed: new Map<string, Agreed>(), unchanged: 0 }
  const act = (action: Action) => result.actions.push(action)
  const isTaken = (path: string) => local.at(path) !== undefined || remote.at(path) !== undefined
  const keep = (path: string, known: Node<Agreed> | undefined) => {
    if (known?.entry) result.agreed.set(path, known.entry)
  }
  const keepAll = (path: string, known: Node<Agreed> | undefined) => {
    keep(path, known)
    if (known) for (const [inner, entry] of pairs(known, path)) result.agreed.set(inner, entry)
  }
  const agree = (path: string, l: Local, { id, size, md5 }: RemoteItem, known: Agreed | undefined) => {
    const { identity, mtimeMs, ctimeMs } = l
    const kind = l.kind === 'folder' ? 'folder' : 'file'
    const now: Agreed = { kind, id, identity, size, md5, mtimeMs, ctimeMs }
    // The look of a folder changes with what is in it.
    if (kind === 'folder') Object.assign(now, { mtimeMs: 0, ctimeMs: 0 })
    const isSame = known && (Object.keys(now) as (keyof Agreed)[]).every(key => known[key] === now[key])
    result.agreed.set(path, isSame ? known : now)
  }

  /** What one side does not have. @returns whether all of it goes on the other side, too */
  function visitAlone(
    side: Side,
    path: string,
    node: Node<Local> | Node<RemoteItem>,
    known: Node<Agreed> | undefined,
  ): boolean {
    keep(path, known)
    const { entry } = node
    if (entry?.kind === 'other') {
      keepAll(path, known)
      return false
    }
    if (entry?.kind === 'file') {
      const goes = isSameFile(known?.entry, entry)
      if (goes) act({ side, action: 'delete', path, files: 1, size: entry.size })
      else {
        transfer(side, path, entry, false)
        // One side has changed and the other one nothing: what comes to this path there is not what was known.
        result.agreed.delete(path)
      }
      return goes
    }
    const isKnown = entry !== undefined && known?.entry?.kind === 'folder'
    const start = result.actions.length
    let goes = isKnown
    for (const [name, child] of childrenOf<Local & RemoteItem>(node as Node<Local & RemoteItem>))
      if (!visitAlone(side, joinPath(path, name), child, known?.children?.get(name))) goes = false
    if (goes) {
      // The service deletes a folder with all that is in it.
      const inside = side === 'remote' ? result.actions.splice(start) : result.actions.slice(start)
      const files = side === 'remote' ? inside.reduce((sum, action) => sum + (action.files ?? 0), 0) : 0
      act({ side, action: 'delete', path, files })
    } else if (entry && !isKnown && result.actions.length === start)
      act({ side: side === 'local' ? 'remote' : 'local', action: 'mkdir', path })
    return goes
  }

  /** Sends a file to the other side. */
  function transfer(from: Side, path: string, { size }: { size: number }, replaces: boolean): void {
    if (from === 'local') act({ side: 'remote', action: 'upload', path, size, replaces })
    else act({ side: 'local', action: 'download', path, size, replaces })
  }

  function visit(
    path: string,
    l: Node<Local> | undefined,
    known: Node<Agreed> | undefined,
    r: Node<RemoteItem> | undefined,
  ): void {
    if (l && !r) visitAlone('local', path, l, known)
    if (r && !l) visitAlone('remote', path, r, known)
    if (!l || !r) return
    if (l.entry?.kind === 'other' || r.entry?.kind === 'other') keepAll(path, known)
    else if (isFolder(l) && isFolder(r)) {
      if (l.entry && r.entry) agree(path, l.entry, r.entry, known?.entry)
      else keep(path, known)
      visitChildren(path, l, known, r)
    } else if (l.entry?.kind === 'file' && r.entry?.kind === 'file') visitFiles(path, l.entry, known?.entry, r.entry)
    else {
      keep(path, known)
      visitClash(path, l, known, r)
    }
  }

  function visitChildren(path: string, l: Node<Local>, known: Node<Agreed> | undefined, r: Node<RemoteItem>): void {
    const names = new Set([...childrenOf(l).keys(), ...childrenOf(r).keys()])
    for (const name of names)
      visit(joinPath(path, name), l.children?.get(name), known?.children?.get(name), r.children?.get(name))
  }

  function visitFiles(path: string, l: Local, before: Agreed | undefined, r: RemoteItem): void {
    if (isSameFile(l, r)) {
      result.unchanged++
      agree(path, l, r, before)
      return
    }
    const common = sent?.get(path)
    const { id } = r
    const { identity } = l
    const known: Agreed | undefined = common
      ? { kind: 'file', id, identity, ...common, mtimeMs: 0, ctimeMs: 0 }
      : before
    if (known) result.agreed.set(path, known)
    if (isSameFile(known, l)) transfer('remote', path, r, true)
    else if (isSameFile(known, r)) transfer('local', path, l, true)
    else conflict(path, known, r)
  }

  function conflict(path: string, known: Agreed | undefined, { size }: { size: number }): void {
    act({ side: 'local', action: 'conflict', path, keptAs: conflictPath(path, label, isTaken), size })
    if (known) result.agreed.set(path, { ...known, identity: null })
  }

  /** A file on one side and a folder on the other: the one that was there before goes, unless it has changed. */
  function visitClash(path: string, l: Node<Local>, known: Node<Agreed> | undefined, r: Node<RemoteItem>): void {
    if (l.entry && isUntouched(l, known)) visitAlone('local', path, l, known)
    else if (r.entry && isUntouched(r, known)) visitAlone('remote', path, r, known)
    else {
      keepAll(path, known)
      // A folder that takes no part itself stays where it is.
      if (l.entry && r.entry) conflict(path, known?.entry, { size: 0 })
    }
  }

  visitChildren('', local.root, base.root, remote.root)
  return { ...result, actions: inOrder(result.actions) }
}

/** Whether all of it is as it was, and nothing was added. */
function isUntouched(node: Node<Local> | Node<RemoteItem>, known: Node<Agreed> | undefined): boolean {
  if (!node.entry || node.entry.kind !== known?.entry?.kind) return false
  if (node.entry.kind === 'file') return isSameFile(node.entry, known.entry)
  return [...childrenOf(node as Node<RemoteItem>)].every(([name, child]) =>
    isUntouched(child, known.children?.get(name)),
  )
}

function* pairs(node: Node<Agreed>, path: string): Generator<[string, Agreed]> {
  for (const [name, child] of childrenOf(node)) {
    const at = joinPath(path, name)
    if (child.entry) yield [at, child.entry]
    yield* pairs(child, at)
  }
}

/** Deletions come last, what is in a folder before the folder. */
function inOrder(actions: Action[]): Action[] {
  const deletions = actions.filter(({ action }) => action === 'delete')
  return [...actions.filter(({ action }) => action !== 'delete'), ...deletions]
}
