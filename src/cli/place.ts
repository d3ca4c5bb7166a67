import type { Client } from './client.ts'
import { Failure } from './failure.ts'

/** A file as a listing shows it. */
export interface RemoteFile {
  id: string
  name: string
  fileType: string
  size: number
  /** MD5, lower-case hex. */
  md5Checksum: string
  createdAt: string
}

/** A folder as a listing shows it, with the bytes and the number of all files below it. */
export interface RemoteFolder {
  name: string
  size: number
  fileCount: number
  updatedAt: string
}

export interface Listing {
  folders: RemoteFolder[]
  files: RemoteFile[]
}

export type Found = { kind: 'folder' } | { kind: 'file'; file: RemoteFile }

/** How large a new file may be, and the failure for a larger one. */
export interface Capacity {
  bytes: number
  refusal: Failure
}

/** File operations on the user's own files or on a workspace. Paths are names joined by slashes. */
export interface Place {
  client: Client
  /** Empty for one's own files. */
  workspaceId: string
  /** REST route of its files. */
  route: string
  /** A path in the form that users type. */
  show(path: string): string
  /** All entries of one level; empty for an unknown path. */
  list(path: string): Promise<Listing>
  find(path: string): Promise<Found | null>
  createFolder(path: string): Promise<void>
  moveFile(source: string, destination: string): Promise<void>
  /** Resolves to the number of files whose path has changed. */
  moveFolder(source: string, destination: string): Promise<number>
  deleteFile(path: string): Promise<void>
  /** Recursively. Resolves to the number of deleted files. */
  deleteFolder(path: string): Promise<number>
  /** A short-lived signed URL. */
  link(path: string): Promise<string>
  capacity(): Promise<Capacity>
  /** Uploads in parts. Each of these calls may be repeated. */
  uploads: Uploads
}

/** Where a file is to be. */
export interface Aim {
  folder: string
  filename: string
}

export interface Uploads {
  start(aim: Aim & { size: number }): Promise<{ id: string; chunkSize: number; partCount: number; expiresAt: string }>
  /** Numbers of the parts that the service has. @throws UPLOAD_NOT_FOUND for one that has ended */
  received(id: string): Promise<number[]>
  /** Resolves to the MD5 of the stored file. */
  complete(id: string, digest: Aim & { md5: string }): Promise<string>
  abort(id: string): Promise<void>
}

/** The largest page of the service. */
export const PAGE = 10_000

/** More levels than the service allows. */
export const DEEPEST = 64

/** All pages of a list. */
export async function allPages<T>(
  page: (cursor: string | null) => Promise<{ nextCursor: string | null } & T>,
): Promise<T[]> {
  const pages: T[] = []
  let cursor: string | null = null
  do {
    const { nextCursor, ...rest }: { nextCursor: string | null } & T = await page(cursor)
    pages.push(rest as T)
    cursor = nextCursor
  } while (cursor !== null)
  return pages
}

export const notFound = (shown: string): Failure =>
  new Failure('NOT_FOUND', `There is no file or folder ${shown}.`, { path: shown })

/** The bytes that the plan leaves. */
export const capacityFor = (limit: string, max: number, used: number): Capacity => ({
  bytes: max - used,
  refusal: new Failure(
    'QUOTA_EXCEEDED',
    `The plan allows ${max} bytes, of which ${used} are used; there is not enough space for this. Delete something, or ask for a larger plan.`,
    { limit, max, used },
  ),
})
