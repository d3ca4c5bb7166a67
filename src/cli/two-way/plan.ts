import { joinPath } from '../path.ts'
import { commonOf, type Local, localLook, type There, withContent, withLook } from './common.ts'
import { conflictPath } from './conflict-name.ts'
import { movedAway } from './moved-away.ts'
import { planMoves } from './moves.ts'
import {
  type Action,
  type Agreed,
  type Content,
  isFolder,
  isSameFile,
  otherSide,
  type RemoteItem,
  type Sent,
  type Side,
  type Trees,
} from './sides.ts'
import { childrenOf, type Node } from './tree.ts'

export interface Plan {
  /** Only the moves, if there are any. The rest is planned again when they are done. */
  actions: Action[]
  /**
   * The new agreement by path, including what both sides last had where they differ. Null if it is
   * unchanged.
   */
  agreed: Map<string, Agreed> | null
  /** Files that are equal on both sides. */
  unchanged: Set<string>
  /** Paths whose actions must wait for others. */
  held: string[]
}

export interface Options {
  /** For the names of conflict copies. */
  label: string
  /** Moves that are not tried again. */
  refused?: ReadonlySet<string>
  /** Content of files that both sides got after the last agreement, by path. */
  sent?: ReadonlyMap<string, Sent>
  /** Entries moved or restored by actions since the last agreement, by path. */
  touched?: ReadonlyMap<string, Side>
}

/**
 * Compares both sides with the last agreement. A change on one side is repeated on the other. If
 * both changed a file, both versions are kept. If one side deleted it and the other changed it, the
 * change wins. Only plans, but updates the trees.
 */
export function plan(trees: Trees<Local>, { label, refused, sent, touched }: Options): Plan {
  const { local, base, remote } = trees
  const learn = (path: string, what: (known: Agreed) => Agreed) => {
    const known = base.at(path)
    if (known?.entry) known.entry = what(known.entry)
  }
  for (const [path, content] of sent ?? []) learn(path, known => withContent(known, content))
  const moves = planMoves(trees, refused)
  if (moves.length > 0) return { actions: moves, agreed: null, unchanged: new Set(), held: [] }
  for (const [path, side] of touched ?? [])
    learn(path, known =>
      withLook(known, side, { local: local.at(path)?.entry, remote: remote.at(path)?.entry }),
    )
  const result = {
    actions: [] as Action[],
    agreed: new Map<string, Agreed>(),
    unchanged: new Set<string>(),
    held: [] as string[],
  }
  const act = (action: Action) => result.actions.push(action)
  const isTaken = (path: string) => local.at(path) !== undefined || remote.at(path) !== undefined
  const hasMoved = movedAway(trees)
  const keep = (path: string, known: Node<Agreed> | undefined) => {
    if (known?.entry) result.agreed.set(path, known.entry)
  }
  const keepAll = (path: string, known: Node<Agreed> | undefined) => {
    keep(path, known)
    if (known) for (const [inner, entry] of pairs(known, path)) result.agreed.set(inner, entry)
  }
  const agree = (path: string, now: Agreed, known: Agreed | undefined) =>
    result.agreed.set(path, known && isSameKnown(known, now) ? known : now)

  /**
   * Records what both sides last had, and what one side has now. An action will copy it to the
   * other side. If the action fails, the record still matches this side.
   */
  function see(
    path: string,
    known: Agreed,
    common: Content,
    side: Side,
    content: Content | null,
    there: There,
  ): void {
    const seen = {
      side,
      content: content && { size: content.size, ...(content.md5 ? { md5: content.md5 } : {}) },
    }
    agree(path, { ...withLook(withContent(known, common), otherSide(side), there), seen }, known)
  }

  /**
   * Handles an entry that only one side has.
   *
   * @param makesWay whether the other side has something else at the path
   * @returns whether the other side's entry is deleted completely
   */
  function visitAlone(
    side: Side,
    path: string,
    node: Node<Local> | Node<RemoteItem>,
    known: Node<Agreed> | undefined,
    makesWay = false,
  ): boolean {
    const { entry } = node
    if (entry?.kind === 'other') {
      keepAll(path, known)
      return false
    }
    const there = thereOf(side, entry)
    const common = commonOf(known?.entry, there)
    // A remote entry with another id is a different entry.
    const isKnown =
      known?.entry !== undefined && (!there.remote || there.remote.id === known.entry.id)
    if (entry?.kind === 'file') {
      const goes = isKnown && isSameFile(common, entry)
      // If one side changed and the other has nothing, the entry is transferred as new.
      if (!goes || !common || !known?.entry) transfer(side, path, entry, false)
      else {
        see(path, known.entry, common, otherSide(side), null, there)
        if (!makesWay && hasMoved(side, known.entry)) {
          result.held.push(path)
          return false
        }
        act({ side, action: 'delete', path, files: 1, size: entry.size })
      }
      return goes
    }
    const isFolderKnown = entry !== undefined && isKnown && common?.kind === 'folder'
    if (isFolderKnown && known.entry) see(path, known.entry, common, otherSide(side), null, there)
    // A folder that was created again is new, with its contents.
    const inside = isFolderKnown || !entry ? known : undefined
    const start = result.actions.length
    let goes = isFolderKnown
    for (const [name, child] of childrenOf<Local & RemoteItem>(node as Node<Local & RemoteItem>))
      if (!visitAlone(side, joinPath(path, name), child, inside?.children?.get(name), makesWay))
        goes = false
    if (goes) {
      // The service deletes a folder with its contents in one action.
      const inside = side === 'remote' ? result.actions.splice(start) : result.actions.slice(start)
      const files =
        side === 'remote' ? inside.reduce((sum, action) => sum + (action.files ?? 0), 0) : 0
      act({ side, action: 'delete', path, files })
    } else if (entry && !isFolderKnown && result.actions.length === start)
      act({ side: otherSide(side), action: 'mkdir', path })
    return goes
  }

  /** Transfers a file to the other side. */
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
      if (l.entry && r.entry) agree(path, agreedOf('folder', l.entry, r.entry), known?.entry)
      else keep(path, known)
      visitChildren(path, l, known, r)
    } else if (l.entry?.kind === 'file' && r.entry?.kind === 'file')
      visitFiles(path, l.entry, known?.entry, r.entry)
    else visitClash(path, l, known, r)
  }

  function visitChildren(
    path: string,
    l: Node<Local>,
    known: Node<Agreed> | undefined,
    r: Node<RemoteItem>,
  ): void {
    const names = new Set([...childrenOf(l).keys(), ...childrenOf(r).keys()])
    for (const name of names)
      visit(
        joinPath(path, name),
        l.children?.get(name),
        known?.children?.get(name),
        r.children?.get(name),
      )
  }

  function visitFiles(path: string, l: Local, before: Agreed | undefined, r: RemoteItem): void {
    if (isSameFile(l, r)) {
      result.unchanged.add(path)
      agree(path, agreedOf('file', l, r), before)
      return
    }
    const first = sent?.get(path)
    const isFirst = first && (first.id ?? r.id) === r.id
    const known = before ?? (isFirst ? withContent(agreedOf('file', l, r), first) : undefined)
    const there = { local: l, remote: r }
    const common = commonOf(known, there)
    const isChanged = (side: Side, now: Content) => {
      if (!known || !common || !isSameFile(common, side === 'remote' ? l : r)) return false
      see(path, known, common, side, now, there)
      transfer(side, path, now, true)
      return true
    }
    if (!isChanged('remote', r) && !isChanged('local', l)) conflict(path, r)
  }

  /** Drops the record. After an interruption, the remaining files count as new. */
  function conflict(path: string, { size }: { size: number }): void {
    act({
      side: 'local',
      action: 'conflict',
      path,
      keptAs: conflictPath(path, label, isTaken),
      size,
    })
    result.agreed.delete(path)
  }

  /**
   * A file on one side and a folder on the other: the older entry is deleted unless it has changed.
   */
  function visitClash(
    path: string,
    l: Node<Local>,
    known: Node<Agreed> | undefined,
    r: Node<RemoteItem>,
  ): void {
    if (isUntouched('local', l, known, r.entry)) visitAlone('local', path, l, known, true)
    else if (isUntouched('remote', r, known, l.entry)) visitAlone('remote', path, r, known, true)
    else {
      keepAll(path, known)
      // A folder that is not synced itself stays where it is.
      if (l.entry && r.entry) conflict(path, { size: 0 })
    }
  }

  visitChildren('', local.root, base.root, remote.root)
  return { ...result, actions: inOrder(result.actions) }
}

const thereOf = (
  side: Side,
  entry: Local | RemoteItem | undefined,
  other?: Local | RemoteItem,
): There => {
  const [local, remote] = side === 'local' ? [entry, other] : [other, entry]
  return { local: local as Local | undefined, remote: remote as RemoteItem | undefined }
}

const agreedOf = (
  kind: Agreed['kind'],
  l: Local,
  { id, revision, size, md5 }: RemoteItem,
): Agreed => ({
  kind,
  id,
  revision,
  size,
  md5,
  ...localLook(l),
})

function isSameKnown(one: Agreed, other: Agreed): boolean {
  const keys = ['kind', 'id', 'revision', 'identity', 'size', 'md5', 'mtimeMs', 'ctimeMs'] as const
  const isSeenSame =
    one.seen === other.seen || JSON.stringify(one.seen) === JSON.stringify(other.seen)
  return isSeenSame && keys.every(key => one[key] === other[key])
}

/**
 * Whether a subtree is unchanged and nothing was added.
 *
 * @param other the entry on the other side
 */
function isUntouched(
  side: Side,
  node: Node<Local> | Node<RemoteItem>,
  known: Node<Agreed> | undefined,
  other?: Local | RemoteItem,
): boolean {
  const { entry } = node
  const common = commonOf(known?.entry, thereOf(side, entry, other))
  if (!entry || !common || entry.kind !== common.kind) return false
  if (entry.kind === 'file') return isSameFile(entry, common)
  return [...childrenOf(node as Node<RemoteItem>)].every(([name, child]) =>
    isUntouched(side, child, known?.children?.get(name)),
  )
}

function* pairs(node: Node<Agreed>, path: string): Generator<[string, Agreed]> {
  for (const [name, child] of childrenOf(node)) {
    const at = joinPath(path, name)
    if (child.entry) yield [at, child.entry]
    yield* pairs(child, at)
  }
}

/** Deletions come last; the contents of a folder come before the folder. */
function inOrder(actions: Action[]): Action[] {
  const deletions = actions.filter(({ action }) => action === 'delete')
  return [...actions.filter(({ action }) => action !== 'delete'), ...deletions]
}
