import { copyName } from './copy-name.ts'

/**
 * Names for entries of several folders, in their order: where several have the same one, the first
 * keeps it, the second `a.txt` is `a (2).txt`.
 */
export function namesApart(names: readonly string[]): string[] {
  const taken = new Set(names)
  const given = new Set<string>()
  // Numbers below are taken, so that many of one name are not counted from the beginning each.
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
