import { joinPath } from '../path.ts'
import type { RemoteEntry, RemoteState } from '../sync/remote-tree.ts'

/** The paths of remote entries below the root, with change tracking. */
export class RemotePaths {
  #root: string | null = null
  #entries: RemoteEntry[] = []
  #byId = new Map<string, RemoteEntry>()
  #paths = new Map<string, string>()

  of(entry: RemoteEntry): string {
    const known = this.#paths.get(entry.id)
    if (known !== undefined) return known
    const parent = this.#byId.get(entry.parentId)
    const path = parent ? joinPath(this.of(parent), entry.name) : entry.name
    this.#paths.set(entry.id, path)
    return path
  }

  /**
   * Replaces the entries.
   *
   * @returns the paths of new, changed and deleted entries; null the first time
   */
  take({ rootId, entries }: RemoteState): Set<string> | null {
    const changed = new Set<string>()
    if (entries === this.#entries && rootId === this.#root) return changed
    const isFirst = this.#root === null || rootId !== this.#root
    const before = this.#byId
    const now = new Map(entries.map(entry => [entry.id, entry]))
    const gone = [...before.values()].filter(({ id }) => !now.has(id))
    const fresh = entries.filter(entry => before.get(entry.id) !== entry)
    const old = [...gone, ...fresh.flatMap(({ id }) => before.get(id) ?? [])]
    for (const entry of isFirst ? [] : old) changed.add(this.of(entry))
    this.#root = rootId
    this.#entries = entries
    this.#byId = now
    // A folder's contents change their paths with it.
    if (isFirst || old.some(({ kind }) => kind === 'folder')) this.#paths.clear()
    else for (const { id } of old) this.#paths.delete(id)
    if (isFirst) return null
    for (const entry of fresh) changed.add(this.of(entry))
    return changed
  }
}
