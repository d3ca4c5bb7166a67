import { copyName } from './copy-name.ts'

/**
 * Makes names of entries from several folders unique, in order: the first `a.txt` keeps its name,
 * the second becomes `a (2).txt`.
 */
export function namesApart(names: readonly string[]): string[] {
  const taken = new Set(names)
  const given = new Set<string>()
  // All lower numbers are taken, so that many equal names are not counted from the start each time.
  const next = new Map<string, number>()
  return names.map(name => {
    let free = name
    let n = next.get(name) ?? 2
    for (; given.has(free) || (free !== name && taken.has(free)); n++) free = copyName(name, n)
    next.set(name, n)
    given.add(free)
    return free
  })
}
