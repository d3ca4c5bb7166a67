import { z } from 'zod'
import { flag } from './readers.ts'

/** Settings of WebDAV. */
export const webdavSettings = {
  WEBDAV_SYSTEM_FILES: {
    help: 'store or refuse the files that macOS and Windows leave behind by WebDAV: ._*, .DS_Store, desktop.ini, Thumbs.db',
    default: 'store',
    read: z.enum(['store', 'refuse']),
  },
  NEXTCLOUD_CLIENTS: {
    help: 'let the apps of Nextcloud and ownCloud for computers and phones sign in and sync',
    default: 'true',
    read: flag,
  },
}
