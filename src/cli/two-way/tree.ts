/**
 * A node of a tree. A folder that is not synced itself but contains synced entries has no entry.
 */
export interface Node<E> {
  name: string
  parent: Node<E> | null
  entry: E | undefined
  /** Only for folders with contents, because most nodes are files. */
  children: Map<string, Node<E>> | undefined
}

const nothing = new Map<string, never>()

/** The children of a node, if any. */
export const childrenOf = <E>(node: Node<E> | undefined): ReadonlyMap<string, Node<E>> =>
  node?.children ?? nothing

/** The names from the root down, joined by slashes. */
export function pathOf(node: Node<unknown>): string {
  const names: string[] = []
  for (let at = node; at.parent; at = at.parent) names.push(at.name)
  return names.reverse().join('/')
}

/** Whether two nodes of different trees have the same path. */
export function isSamePlace(one: Node<unknown>, other: Node<unknown>): boolean {
  for (let [a, b] = [one, other]; ; [a, b] = [a.parent, b.parent]) {
    if (!a.parent || !b.parent) return a.parent === b.parent
    if (a.name !== b.name) return false
  }
}

/** Entries by path. A folder moves with its contents. */
export class Tree<E> {
  readonly root: Node<E> = nodeOf<E>('', null)

  constructor(entries: Iterable<readonly [string, E]> = []) {
    for (const [path, entry] of entries) this.put(path, entry)
  }

  at(path: string): Node<E> | undefined {
    let node: Node<E> | undefined = this.root
    if (path !== '') for (const name of path.split('/')) node = node?.children?.get(name)
    return node
  }

  /** @param entry undefined for a folder that only contains synced entries */
  put(path: string, entry: E | undefined): Node<E> {
    let node = this.root
    for (const name of path.split('/')) {
      let found: Node<E> | undefined = node.children?.get(name)
      if (!found) {
        found = nodeOf(name, node)
        addChild(node, found)
      }
      node = found
    }
    node.entry = entry
    return node
  }

  remove(node: Node<E>): void {
    node.parent?.children?.delete(node.name)
  }

  /** Moves a node to a path, replacing the node there. */
  move(node: Node<E>, path: string): void {
    this.remove(node)
    const there = this.put(path, undefined)
    node.parent = there.parent
    node.name = there.name
    if (there.parent) addChild(there.parent, node)
  }

  *nodes(from: Node<E> = this.root): Generator<Node<E>> {
    for (const node of [...childrenOf(from).values()]) {
      yield node
      yield* this.nodes(node)
    }
  }
}

export function addChild<E>(parent: Node<E>, child: Node<E>): void {
  parent.children ??= new Map()
  parent.children.set(child.name, child)
}

const nodeOf = <E>(name: string, parent: Node<E> | null): Node<E> => ({
  name,
  parent,
  entry: undefined,
  children: undefined,
})

export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
