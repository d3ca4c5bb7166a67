import type { BlobService } from './blob.ts'
import type { DownloadService } from './download.ts'
import type { FileService } from './file.ts'
import type { FolderService } from './folder.ts'
import type { NoteService } from './note.ts'
import type { ShareService } from './share.ts'
import type { UserService } from './user.ts'

/** What the API can do; made once in app.ts and handed to every request. */
export interface Services {
  blobs: BlobService
  downloads: DownloadService
  files: FileService
  folders: FolderService
  notes: NoteService
  shares: ShareService
  users: UserService
}
