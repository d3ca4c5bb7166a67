import { copyName } from '../../upload-engine/copy-name.ts'

/** Characters that Windows does not take in names. */
const FORBIDDEN = /[<>:"|?*\\\p{Cc}]/gu
/** Names of devices, which Windows does not take as names of files, whatever their extension. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\s*\.|\s*$)/i

/** A name that Windows and macOS can unpack. Equal to the name, if they can already. */
export function portableName(name: string): string {
  const allowed = name.replace(FORBIDDEN, '_').replace(/[. ]+$/, end => '_'.repeat(end.length))
  return DEVICE.test(allowed) ? `_${allowed}` : allowed
}

/** Names with one key are the same file on Windows or macOS. */
const keyOf = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC')

/**
 * Names of the entries of one folder that Windows and macOS can unpack side by side. Names that
 * need no change keep precedence: of `A.txt` and `a.txt`, the second becomes `a (2).txt`.
 */
export function portableNames(names: readonly string[]): string[] {
  const safe = names.map(portableName)
  const taken = new Map<string, number>()
  safe.forEach((name, at) => {
    if (name === names[at] && !taken.has(keyOf(name))) taken.set(keyOf(name), at)
  })
  // All lower numbers are taken, so that many equal names are not counted from the start each time.
  const next = new Map<string, number>()
  return safe.map((name, at) => {
    const key = keyOf(name)
    let free = name
    let n = next.get(key) ?? 2
    for (; (taken.get(keyOf(free)) ?? at) !== at; n++) free = copyName(name, n)
    next.set(key, n)
    taken.set(keyOf(free), at)
    return free
  })
}
