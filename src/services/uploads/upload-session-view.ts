import type { StreamKind } from '../../../db/models/upload-stream.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import type { SharedRoot, Tree } from '../../values/tree.ts'

/** The parts of its destination tree that an upload needs before its file is created. */
export type UploadTree = Pick<Tree, 'bucketId' | 'front'> & { share?: Pick<SharedRoot, 'id'> }

/** An unfinished upload in parts. Sizes are in bytes, times in milliseconds since 1970. */
export interface UploadSessionView {
  id: string
  bucketId: string
  /** The share under which it was started; null for the user's own right. */
  shareId: string | null
  /** The id of the user who started it. */
  maker: string
  names: string[] // from the root down
  fileType: string
  /** The path of the destination folder, as responses show it. */
  folder: string
  size: number
  /** The size of every part but the last. */
  partSize: number
  partCount: number
  /** Whether clients send the parts to signed URLs of the store. */
  direct: boolean
  /** The rule for a name conflict at the end. */
  onConflict: OnConflict
  /** The time until which clients can write directly to the store; 0 if they never can. */
  writableUntil: number
  /** The modification time that the client reported, or null. */
  modifiedAt: number | null
  createdAt: number
  expiresAt: number
  /** Whether a completion in the background has already created the file. */
  isCompleted?: boolean
  /** The kind of stream, if the bytes arrive in order. */
  stream?: StreamKind | null
}
