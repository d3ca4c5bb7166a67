import { joinPath, splitPath } from '../path.ts'

const NAME_BYTES = 255

/**
 * The path of a conflict copy: `a (conflict 2026-11-26 laptop).txt`.
 *
 * @param label date and computer, for people
 * @param isTaken whether a path exists
 */
export function conflictPath(
  path: string,
  label: string,
  isTaken: (path: string) => boolean,
): string {
  const { folder, name } = splitPath(path)
  const dot = name.lastIndexOf('.')
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  for (let n = 1; ; n++) {
    const mark = ` (conflict ${label}${n === 1 ? '' : ` ${n}`})`
    const kept = joinPath(folder, shortened(stem, `${mark}${end}`))
    if (!isTaken(kept)) return kept
  }
}

/** Shortens a name that would be too long for a file system. */
function shortened(stem: string, rest: string): string {
  const letters = [...stem]
  while (letters.length > 0 && Buffer.byteLength(letters.join('') + rest) > NAME_BYTES)
    letters.pop()
  return letters.join('') + rest
}
