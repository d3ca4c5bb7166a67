import { copyName } from './copy-name.ts'

/** Names for entries of several folders, in their order: where several have the same one, the first keeps it, the second `a.txt` is `a (2).txt`. */
export function namesApart(names: readonly string[]): string[] {
  const taken = new Set(names)
  const given = new Set<string>()
  return names.map(name => {
    let free = name
    for (let n = 2; given.has(free) || (free !== name && taken.has(free)); n++) free = copyName(name, n)
    given.add(free)
    return free
  })
}
