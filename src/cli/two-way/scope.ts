/**
 * The part of the trees that a plan examines: paths that may have changed, their siblings and
 * parents, and everything below them.
 */
export interface Scope {
  has(path: string): boolean
}

/** With more changed paths than this, everything is planned. */
export const MANY_PATHS = 5000

const above = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** @param changed paths that changed since a plan that left nothing to do */
export function scopeOf(changed: ReadonlySet<string>): Scope {
  const levels = new Set<string>()
  const leading = new Set<string>()
  for (const path of changed) {
    levels.add(above(path))
    for (let at = above(path); at !== ''; at = above(at)) leading.add(at)
  }
  return {
    has(path) {
      if (leading.has(path) || levels.has(above(path))) return true
      for (let at = path; at !== ''; at = above(at)) if (changed.has(at)) return true
      return false
    },
  }
}

/** The entries of a map in a scope; all of them without a scope. */
export const within = <V>(
  entries: ReadonlyMap<string, V>,
  scope: Scope | null,
): ReadonlyMap<string, V> =>
  scope ? new Map([...entries].filter(([path]) => scope.has(path))) : entries

/** Replaces the entries of a scope in a map. */
export function merged<V>(
  all: ReadonlyMap<string, V>,
  part: ReadonlyMap<string, V>,
  scope: Scope | null,
): Map<string, V> {
  if (!scope) return new Map(part)
  const result = new Map(all)
  for (const path of all.keys()) if (!part.has(path) && scope.has(path)) result.delete(path)
  for (const [path, value] of part) result.set(path, value)
  return result
}
