import type { Drive } from '../access/drive.ts'

/** The letters of something that can only be read. */
export const READ_ONLY = 'G'

/** What a recipient may do with a share itself: its top stays where it is. */
export const receivedLetters = (mayEdit: boolean, isFolder: boolean): string =>
  `S${READ_ONLY}${mayEdit ? (isFolder ? 'CK' : 'W') : ''}`

/**
 * What the caller may do with an entry of a place, as `oc:permissions` writes it: S received share,
 * G read, R share, D delete, N rename, V move, W write the content, C create files, K create
 * folders.
 * @param entry `isRoot` for the top of a drive or of a share, which stays where it is
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
