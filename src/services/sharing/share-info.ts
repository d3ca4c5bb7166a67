import type { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { LinkedShare } from '../../../db/queries/share.ts'
import { shareTitle } from '../../values/share-title.ts'

/**
 * The details that anyone with the link may read before downloading: no e-mail address, no owner,
 * no path.
 */
export interface ShareInfo {
  kind: typeof FILE | typeof FOLDER
  /** The name of the file or folder. A share of several entries counts as a folder. */
  fileName: string
  entryCount: number
  fileType: string
  size: number
  /** The number of shared files, at all levels. */
  fileCount: number
  /** Null if it never expires. */
  expiresAt: number | null
  passwordProtected: boolean
  /** Whether the file may be downloaded, not only viewed. */
  allowDownload: boolean
}

/** The details of a share that its page shows to an admitted visitor. */
export interface SharePage extends ShareInfo {
  /**
   * Null for a share with one person until they sign in. The address is empty in a public share,
   * which shows only the name.
   */
  sharedBy: { name: string; email: string; verified: boolean } | null
  /** The heading of the page. Empty for the name of what is shared. */
  title: string
  /** The message of the sharer. */
  message: string
  isPublic: boolean
  /** What the visitor must do before downloading. Null if nothing. */
  needs: 'sign-in' | 'password' | null
  /** Whether the share has a limit of downloads. False if downloads are not allowed at all. */
  limited: boolean
  /** Whether the visitor is the recipient and has not opened the share yet. */
  unseen: boolean
}

export const infoOf = (share: LinkedShare): ShareInfo => ({
  kind: share.kind,
  fileName: shareTitle(share.name, share.entryCount),
  entryCount: share.entryCount ?? 1,
  fileType: share.fileType,
  size: share.size,
  fileCount: share.fileCount,
  expiresAt: share.expiresAt,
  passwordProtected: share.passwordHash !== null,
  allowDownload: Boolean(share.allowDownload),
})
