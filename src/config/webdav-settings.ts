import { z } from 'zod'
import { flag } from './readers.ts'

/** Settings of WebDAV. */
export const webdavSettings = {
  WEBDAV_SYSTEM_FILES: {
    help: 'store or refuse the files that macOS and Windows create over WebDAV: ._*, .DS_Store, desktop.ini, Thumbs.db',
    default: 'store',
    read: z.enum(['store', 'refuse']),
  },
  NEXTCLOUD_CLIENTS: {
    help: 'let the desktop and mobile apps of Nextcloud and ownCloud sign in and sync',
    default: 'true',
    read: flag,
  },
}
