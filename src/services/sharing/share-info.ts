import type { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { LinkedShare } from '../../../db/queries/share.ts'
import { shareTitle } from '../../values/share-title.ts'

/**
 * The details that anyone with the link may read before downloading: no e-mail address, no owner,
 * no path.
 */
export interface ShareInfo {
  kind: typeof FILE | typeof FOLDER
  /** Of the file or folder; several are like a folder. */
  fileName: string
  entryCount: number
  fileType: string
  size: number
  /** Null for a share that never expires. */
  expiresAt: number | null
  passwordProtected: boolean
  /** Whether the file may be downloaded, and not only seen on its page. */
  allowDownload: boolean
}

/** The details that the page of a share shows to a visitor who may see it. */
export interface SharePage extends ShareInfo {
  /** Null for a public share, which does not reveal its owner. */
  sharedBy: { name: string; email: string; verified: boolean } | null
  /** What the visitor has to do before downloading; null when nothing is left to do. */
  needs: 'sign-in' | 'password' | null
  /** Whether the share ends after some downloads: not where it allows none. */
  limited: boolean
  /** Whether the visitor is its recipient and has not opened it yet. */
  unseen: boolean
}

export const infoOf = (share: LinkedShare): ShareInfo => ({
  kind: share.kind,
  fileName: shareTitle(share.name, share.entryCount),
  entryCount: share.entryCount ?? 1,
  fileType: share.fileType,
  size: share.size,
  expiresAt: share.expiresAt,
  passwordProtected: share.passwordHash !== null,
  allowDownload: Boolean(share.allowDownload),
})
