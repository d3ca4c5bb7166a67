import type { Drive } from '../access/drive.ts'

/** The letters of a read-only resource. */
export const READ_ONLY = 'G'

/** The rights of a recipient to the top of a share, which cannot be moved. */
export const receivedLetters = (mayEdit: boolean, isFolder: boolean): string =>
  `S${READ_ONLY}${mayEdit ? (isFolder ? 'CK' : 'W') : ''}`

/**
 * The rights of the caller to an entry of a place, in the letters of `oc:permissions`: S received
 * share, G read, R share, D delete, N rename, V move, W write the content, C create files, K create
 * folders.
 * @param entry `isRoot` for the top of a drive or share, which cannot be moved
 */
export function lettersOf(
  { drive, base }: { drive: Drive | null; base: readonly string[] },
  { isFolder, isRoot }: { isFolder: boolean; isRoot: boolean },
): string {
  const isShared = drive === null || drive.share !== null
  const received = isShared && base.length > 0 ? 'S' : ''
  if (!drive) return `${received}${READ_ONLY}`
  const [mayWrite, mayDelete] = [!drive.refusal('write'), !drive.refusal('delete')]
  const mayReplace = mayWrite && (mayDelete || drive.share?.isFile === true)
  const share = !isShared && !drive.refusal('share') ? 'R' : ''
  const place = isRoot ? '' : `${mayDelete ? 'D' : ''}${mayWrite ? 'NV' : ''}`
  const inside = isFolder ? (mayWrite ? 'CK' : '') : mayReplace ? 'W' : ''
  return `${received}${READ_ONLY}${share}${place}${inside}`
}
