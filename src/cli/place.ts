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

/** How many bytes a new file may have, and what is to be said of more. */
export interface Room {
  bytes: number
  refusal: Failure
}

/** What a caller can do with files, be they their own or a workspace's. Paths are names joined by slashes. */
export interface Place {
  client: Client
  /** Empty for one's own files. */
  workspaceId: string
  /** Where its files are by REST. */
  route: string
  /** A path as it is typed. */
  show(path: string): string
  /** All of one level; empty for a path that there is not. */
  list(path: string): Promise<Listing>
  find(path: string): Promise<Found | null>
  createFolder(path: string): Promise<void>
  moveFile(source: string, destination: string): Promise<void>
  /** Answers how many files have another path now. */
  moveFolder(source: string, destination: string): Promise<number>
  deleteFile(path: string): Promise<void>
  /** With all that is in it; answers how many files that were. */
  deleteFolder(path: string): Promise<number>
  /** A signed address, which lives for a short while. */
  link(path: string): Promise<string>
  room(): Promise<Room>
  /** Uploads in parts. Each of these may be asked again. */
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
  /** Answers the MD5 of what is stored now. */
  complete(id: string, digest: Aim & { md5: string }): Promise<string>
  abort(id: string): Promise<void>
}

/** Pages as large as the service gives them. */
export const PAGE = 10_000

/** How many levels a path may have for the service, and some more. */
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

/** What the plan leaves of all its bytes. */
export const roomFor = (limit: string, max: number, used: number): Room => ({
  bytes: max - used,
  refusal: new Failure(
    'QUOTA_EXCEEDED',
    `The plan allows ${max} bytes, of which ${used} are used; there is no room for this. Delete something, or ask for a larger plan.`,
    { limit, max, used },
  ),
})
