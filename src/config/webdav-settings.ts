import { z } from 'zod'

/** Settings of WebDAV. */
export const webdavSettings = {
  WEBDAV_SYSTEM_FILES: {
    help: 'store or refuse the files that macOS and Windows leave behind by WebDAV: ._*, .DS_Store, desktop.ini, Thumbs.db',
    default: 'store',
    read: z.enum(['store', 'refuse']),
  },
}
