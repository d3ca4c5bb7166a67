import type { StreamKind } from '../../../db/models/upload-stream.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import type { SharedRoot, Tree } from '../../values/tree.ts'

/** What an upload needs to know of the tree that it goes to, before its file is made. */
export type UploadTree = Pick<Tree, 'bucketId' | 'front'> & { share?: Pick<SharedRoot, 'id'> }

/** An unfinished upload in parts. Sizes in bytes, times in milliseconds since 1970. */
export interface UploadSessionView {
  id: string
  bucketId: string
  /** The share by which it was started; null for a right of one's own. */
  shareId: string | null
  /** Id of the user who started it. */
  maker: string
  names: string[] // from the root down
  fileType: string
  /** Path of the folder of the future file, as responses show it. */
  folder: string
  size: number
  /** Bytes of every part but the last. */
  partSize: number
  partCount: number
  /** Whether clients send the parts to signed URLs. */
  direct: boolean
  /** What to do when something of its name is there at the end. */
  onConflict: OnConflict
  /**
   * Until when clients can write directly to the store, in milliseconds since 1970; 0 if they never
   * can.
   */
  writableUntil: number
  /** When the file was last modified, as its client says; null where that says nothing. */
  modifiedAt: number | null
  createdAt: number
  expiresAt: number
  /** Whether its file is there already, by a completion in the background. */
  isCompleted?: boolean
  /** What becomes of it if its bytes come in order. */
  stream?: StreamKind | null
}
