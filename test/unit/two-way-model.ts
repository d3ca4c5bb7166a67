import { expect } from '@jest/globals'
import { keyOf } from '../../src/cli/two-way/moves.ts'
import { type Plan, plan } from '../../src/cli/two-way/plan.ts'
import { merged, type Scope, scopeOf, within } from '../../src/cli/two-way/scope.ts'
import type { Action, Agreed, Kind, Sent, Side } from '../../src/cli/two-way/sides.ts'
import { childrenOf, type Node, pathOf, Tree } from '../../src/cli/two-way/tree.ts'

/** A file (with its content) or a folder. `id` is an inode or the id of the service. */
export interface Item {
  kind: Exclude<Kind, 'other'>
  id: string
  content: string
  /**
   * Changes whenever the item itself changes: the ctime of a file, or the revision of the service.
   */
  look: number
}

/** A user's action on one side. */
export type Deed =
  | { does: 'write' | 'rewrite'; path: string }
  | { does: 'remove' | 'mkdir' | 'restore'; path: string }
  | { does: 'move'; path: string; to: string }

let made = 0
const fresh = () => `${++made}`
const itemOf = (kind: Item['kind'], content: string, id = fresh()): Item => ({
  kind,
  id,
  content,
  look: ++made,
})

/** One side: a tree, and the files that syncs have moved aside. */
export class SimulatedSide {
  tree = new Tree<Item>()
  kept = new Set<string>()
  /** The last removed or replaced entry of each path. */
  bin = new Map<string, Node<Item>>()
  /** Paths that users have changed since the last listing. */
  unseen = new Set<string>()

  put(path: string, item: Item): void {
    const there = this.tree.at(path)
    // The id stays with the renamed item.
    if (there?.entry)
      this.bin.set(path, { ...there, entry: { ...there.entry, id: fresh() }, children: undefined })
    this.tree.put(path, item)
  }

  remove(node: Node<Item>): void {
    this.bin.set(pathOf(node), node)
    this.tree.remove(node)
  }

  move(node: Node<Item>, to: string): void {
    if (node.entry) node.entry = { ...node.entry, look: ++made }
    this.tree.move(node, to)
  }

  /** Performs a user's action. Returns the contents that it deletes or overwrites. */
  do(deed: Deed): { written?: string[]; ended: string[] } {
    const there = this.tree.at(deed.path)
    const wasSeen = ![...this.unseen].some(path => isAlong(path, deed.path))
    this.unseen.add(deed.path)
    if (deed.does === 'move') this.unseen.add(deed.to)
    switch (deed.does) {
      case 'write':
      case 'rewrite': {
        if (there?.entry?.kind === 'folder' || !this.hasFolderFor(deed.path)) return { ended: [] }
        const content = `content ${fresh()}`
        // A program writes into a file, or replaces it by another file.
        const id = deed.does === 'rewrite' && there?.entry ? there.entry.id : fresh()
        const ended = there?.entry ? [there.entry.content] : []
        this.put(deed.path, itemOf('file', content, id))
        return { written: [content], ended }
      }
      case 'mkdir':
        if (!there && this.hasFolderFor(deed.path)) this.tree.put(deed.path, itemOf('folder', ''))
        return { ended: [] }
      case 'remove':
        if (!there) return { ended: [] }
        this.remove(there)
        return { ended: contentsOf(there) }
      case 'restore': {
        const old = this.bin.get(deed.path)
        const isFile = there?.entry?.kind === 'file' && old?.entry?.kind === 'file'
        if (!old?.entry || !this.hasFolderFor(deed.path) || (there && !isFile)) return { ended: [] }
        if (old.entry.content === there?.entry?.content) return { ended: [] }
        const ended = there?.entry ? [there.entry.content] : []
        if (isFile) this.put(deed.path, itemOf('file', old.entry.content, there.entry?.id))
        else {
          this.bin.delete(deed.path)
          this.move(old, deed.path)
        }
        // Undoing an action that no listing has seen is no change.
        return { ended, ...(wasSeen ? { written: contentsOf(old) } : {}) }
      }
      case 'move':
        if (
          there &&
          !this.tree.at(deed.to) &&
          this.hasFolderFor(deed.to) &&
          !`${deed.to}/`.startsWith(`${deed.path}/`)
        )
          this.move(there, deed.to)
        return { ended: [] }
    }
  }

  hasFolderFor(path: string): boolean {
    const cut = path.lastIndexOf('/')
    return cut < 0 || this.tree.at(path.slice(0, cut))?.entry?.kind === 'folder'
  }

  makeFolders(path: string): boolean {
    const names = path.split('/').slice(0, -1)
    for (const [i] of names.entries()) {
      const folder = names.slice(0, i + 1).join('/')
      const there = this.tree.at(folder)?.entry
      if (there?.kind === 'file') return false
      if (!there) this.tree.put(folder, itemOf('folder', ''))
    }
    return true
  }

  /** All entries by path: null for folders. */
  shown(): Record<string, string | null> {
    const all = [...this.tree.nodes()].map(node => [
      pathOf(node),
      node.entry?.kind === 'file' ? node.entry.content : null,
    ])
    return Object.fromEntries(all.sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1)))
  }

  contents(): Set<string> {
    return new Set(contentsOf(this.tree.root))
  }
}

/** Whether one path equals or contains the other. */
const isAlong = (one: string, other: string) =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`)

const contentsOf = (node: Node<Item>): string[] => [
  ...(node.entry?.kind === 'file' ? [node.entry.content] : []),
  ...[...childrenOf(node).values()].flatMap(contentsOf),
]

/** Copies a tree in the form that a plan takes. */
function copyOf<T>(side: SimulatedSide, scope: Scope | null, shape: (item: Item) => T): Tree<T> {
  return new Tree(
    [...within(new Map(itemsOf(side)), scope)].map(([path, item]) => [path, shape(item)] as const),
  )
}

type Looked = Record<'local' | 'remote', Map<string, Item>>

/** Two sides and the state of a sync, which may be killed at any moment. */
export class Simulation {
  local = new SimulatedSide()
  remote = new SimulatedSide()
  agreed: ReadonlyMap<string, Agreed> = new Map()
  sent = new Map<string, Sent>()
  touched = new Map<string, Side>()
  failedMoves = new Set<string>()
  /**
   * Names that a side refuses, as `side path`: an open file, or a name that the service rejects.
   */
  blocked = new Set<string>()
  /** Contents that must not be lost. */
  alive = new Set<string>()
  /**
   * Contents that must not be deleted on either side: both sides had them, and no user has deleted
   * them.
   */
  common = new Set<string>()
  actions: Action[] = []
  /** The scope with unfinished work from the last plan, or null if everything has to be planned. */
  private open: Set<string> | null = null
  private looked: Looked = { local: new Map(), remote: new Map() }

  do(side: 'local' | 'remote', deed: Deed): void {
    const { written, ended } = this[side].do(deed)
    for (const content of ended) {
      this.alive.delete(content)
      this.common.delete(content)
    }
    for (const content of written ?? []) this.alive.add(content)
  }

  /**
   * Runs one round.
   * @param steps the number of actions before the kill
   * @param meanwhile what users do after both sides were listed
   * @returns the number of actions
   */
  round(steps: number, meanwhile: () => void = () => {}): number {
    const looked = { local: new Map(itemsOf(this.local)), remote: new Map(itemsOf(this.remote)) }
    const whole = this.planIn(null)
    const { actions, agreed, held } = whole
    const around = this.open && new Set([...this.open, ...this.changedSince(looked)])
    if (around) {
      const scope = scopeOf(around)
      const part = this.planIn(scope)
      expect(part.actions).toEqual(actions)
      expect(part.agreed && merged(this.agreed, part.agreed, scope)).toEqual(agreed)
    }
    const paths = actions
      .flatMap(({ path, from, keptAs }) => [path, from, keptAs])
      .filter(path => path !== undefined)
    this.open = agreed ? new Set([...paths, ...held]) : around && new Set([...around, ...paths])
    this.looked = looked
    if (agreed) {
      this.agreed = agreed
      this.sent.clear()
      this.touched.clear()
      for (const side of [this.local, this.remote]) side.unseen.clear()
    }
    this.actions = actions
    meanwhile()
    let left = steps
    for (const stage of [['move'], ['mkdir', 'upload', 'download', 'conflict'], ['delete']]) {
      let isDone = false
      for (const action of actions.filter(({ action }) => stage.includes(action)))
        if (left-- > 0) {
          if (this.carryOut(action, looked, left === 0)) isDone = true
          else if (action.action === 'move') this.failedMoves.add(keyOf(action))
        }
      if (isDone) break
    }
    if (left < 0) this.kill()
    return actions.length
  }

  /** @param scope null for everything */
  private planIn(scope: Scope | null): Plan {
    const local = copyOf(this.local, scope, ({ kind, id, content, look }) => ({
      kind,
      size: content.length,
      md5: content,
      identity: id,
      mtimeMs: 0,
      ctimeMs: look,
    }))
    const remote = copyOf(this.remote, scope, ({ kind, id, content, look }) => ({
      kind,
      id,
      size: content.length,
      md5: content,
      revision: look,
    }))
    const options = {
      label: 'day host',
      refused: this.failedMoves,
      sent: this.sent,
      touched: this.touched,
    }
    return plan({ local, base: new Tree(within(this.agreed, scope)), remote }, options)
  }

  /**
   * Changed paths as the command finds them: local entries by path, remote entries by id, because
   * their paths change with their folders.
   */
  private changedSince({ local, remote }: Looked): string[] {
    const differ = (one: Looked['local'], other: Looked['local']) =>
      [...one].flatMap(([path, item]) => {
        const now = other.get(path)
        return now?.id === item.id && now.look === item.look ? [] : [path]
      })
    const idsIn = (items: Looked['remote']) =>
      new Map([...items].map(([path, item]) => [item.id, { path, item }]))
    const moved = (one: Looked['remote'], other: Looked['remote']) => {
      const there = idsIn(other)
      return [...idsIn(one)].flatMap(([id, { path, item }]) =>
        there.get(id)?.item.look === item.look ? [] : [path],
      )
    }
    const before = this.looked
    return [
      ...[...differ(before.local, local), ...differ(local, before.local)],
      ...[...moved(before.remote, remote), ...moved(remote, before.remote)],
    ]
  }

  /** Ends the process, and loses its memory. */
  kill(): void {
    this.open = null
    this.sent.clear()
    this.touched.clear()
    this.failedMoves.clear()
  }

  /** Loses the stored state. */
  forget(): void {
    this.kill()
    this.agreed = new Map()
  }

  /** Contents that both sides had and one side has lost, although no user has deleted them. */
  taken(): string[] {
    const [local, remote] = [this.local.contents(), this.remote.contents()]
    return [...this.common].filter(content => !local.has(content) || !remote.has(content))
  }

  private send(path: string, { content }: Item): void {
    this.sent.set(path, { size: content.length, md5: content })
  }

  /**
   * Performs an action like the command: only if the entries still match the listing.
   * @returns whether it was performed
   */
  private carryOut(
    action: Action,
    looked: Record<'local' | 'remote', Map<string, Item>>,
    isLast: boolean,
  ): boolean {
    const { side, path, from = '', keptAs = '' } = action
    const [target, source] =
      side === 'local' ? [this.local, this.remote] : [this.remote, this.local]
    const there = target.tree.at(path)
    if ([path, from].some(each => this.blocked.has(`${side} ${each}`))) return false
    const isAsSeen = isSame(there?.entry, looked[side].get(path))
    const sent = source.tree.at(path)?.entry
    switch (action.action) {
      case 'move': {
        const node = target.tree.at(from)
        if (!node || there || !target.makeFolders(path)) return false
        target.move(node, path)
        if (action.isAsKnown) this.touched.set(path, side)
        if (side === 'local' && action.last) this.sent.set(path, action.last)
        return true
      }
      case 'mkdir':
        return !there && target.makeFolders(`${path}/x`)
      case 'conflict':
        if (!isAsSeen || !there || target.tree.at(keptAs)) return false
        target.move(there, keptAs)
        // Killed after the first half.
        if (isLast) return true
        if (sent?.kind === 'file' && there.entry?.kind === 'file') {
          target.tree.put(path, itemOf('file', sent.content))
          this.send(path, sent)
        }
        return true
      case 'delete':
        if (!isAsSeen || !there) return false
        if (side === 'local' && childrenOf(there).size > 0) return false
        if (side === 'remote' && contentsOf(there).length > (action.files ?? 0)) return false
        // Events report the changes in a folder.
        for (const node of this.remote.tree.nodes(there))
          if (side === 'remote' && !isSame(node.entry, looked.remote.get(pathOf(node))))
            return false
        for (const content of contentsOf(there)) target.kept.add(content)
        // The entry makes way for a file or a folder.
        if (!source.hasFolderFor(path) || source.tree.at(path))
          for (const content of contentsOf(there)) this.common.delete(content)
        target.remove(there)
        return true
      default: {
        const isSent =
          sent?.kind === 'file' &&
          isSame(sent, looked[side === 'local' ? 'remote' : 'local'].get(path))
        if (!isSent || !isAsSeen || there?.entry?.kind === 'folder' || !target.makeFolders(path))
          return false
        if (there?.entry) {
          target.kept.add(there.entry.content)
          // Two names may have been swapped.
          this.common.delete(there.entry.content)
        }
        // The service keeps the id of a replaced file.
        const id = side === 'remote' && there?.entry ? there.entry.id : fresh()
        target.put(path, itemOf('file', sent.content, id))
        this.send(path, sent)
        return true
      }
    }
  }

  /**
   * Runs rounds until nothing is left to do.
   * @throws Error if the rounds do not converge
   */
  settle(): void {
    this.blocked.clear()
    this.kill()
    for (let round = 0; round < 30; round++)
      if (this.round(Number.POSITIVE_INFINITY) === 0) {
        this.common = new Set([...this.local.contents()].filter(content => this.alive.has(content)))
        return
      }
    throw new Error(`The rounds do not converge: ${JSON.stringify(this.actions)}`)
  }
}

const itemsOf = (side: SimulatedSide): [string, Item][] =>
  [...side.tree.nodes()].flatMap(node =>
    node.entry ? [[pathOf(node), node.entry] as [string, Item]] : [],
  )

const isSame = (one: Item | undefined, other: Item | undefined) =>
  one?.kind === other?.kind && (one?.kind === 'folder' || one?.content === other?.content)
