import type { Node, Tree } from './tree.ts'

/**
 * `other`: what takes no part, and must not be touched: a symbolic link, what patterns leave out, a
 * name that cannot be here.
 */
export type Kind = 'file' | 'folder' | 'other'

/** What a plan needs to know of a local entry. */
export interface LocalItem {
  kind: Kind
  /** Of a file. */
  size: number
  /** Of a file; undefined if it has not been read, because nothing that matters has its size. */
  md5?: string | undefined
  /**
   * The same for the same file or folder under another name; null if the file system cannot tell.
   */
  identity: string | null
}

/** What a plan needs to know of a remote entry. */
export interface RemoteItem {
  kind: Kind
  id: string
  size: number
  md5: string
  /** Grows with each change of the entry itself. */
  revision: number
}

/** A file or a folder that was the same on both sides. */
export interface Agreed {
  kind: 'file' | 'folder'
  /** Of the remote entry. */
  id: string
  /** What the remote entry looked like. */
  revision: number
  /** Of the local one; null if it is not known which one it was. */
  identity: string | null
  size: number
  md5: string
  /** What the local file looked like. */
  mtimeMs: number
  ctimeMs: number
  /**
   * What one side was seen to have instead since then. It was saved before an action could bring
   * that to the other side.
   */
  seen?: Seen
}

/** The content that both sides had of a file, since it was sent or moved. */
export interface Sent extends Pick<Agreed, 'size' | 'md5'> {
  /** Of the remote entry, if it is known: another one at its path is another file. */
  id?: string
}

export interface Seen {
  side: Side
  /** Of a file, whose digest may not be known; null for nothing. */
  content: Omit<Content, 'kind'> | null
}

export type Side = 'local' | 'remote'

export const otherSide = (side: Side): Side => (side === 'local' ? 'remote' : 'local')

/**
 * Something that makes the sides more alike. Paths are those after the moves that come before it.
 */
export interface Action {
  side: Side
  /** `conflict`: both versions stay, the local one under another name. */
  action: 'move' | 'upload' | 'download' | 'mkdir' | 'conflict' | 'delete'
  path: string
  /** Of a move: where it is. */
  from?: string
  /** Of a move: the id of the remote entry, or the identity of the local one. */
  id?: string | null
  /** Of a move of a file: what both sides had, if that is known. */
  last?: Sent
  /** Of a move: whether it is as it was remembered. */
  isAsKnown?: boolean
  /** Of a conflict: the new name of the local version. */
  keptAs?: string
  /** Whether something is there that is replaced. */
  replaces?: boolean
  /** Bytes of a file. */
  size?: number
  /** Of a deletion: how many files go. */
  files?: number
}

export interface Trees<L extends LocalItem = LocalItem, R extends RemoteItem = RemoteItem> {
  local: Tree<L>
  base: Tree<Agreed>
  remote: Tree<R>
}

/** What matters of an entry. */
export type Content = Pick<RemoteItem, 'kind' | 'size'> & { md5?: string | undefined }

/** Whether both are files with the same bytes. */
export const isSameFile = (
  one: Content | null | undefined,
  other: Content | null | undefined,
): boolean =>
  one?.kind === 'file' &&
  other?.kind === 'file' &&
  one.size === other.size &&
  one.md5 !== undefined &&
  one.md5 === other.md5

export const isFolder = (node: Node<{ kind: Kind }>): boolean =>
  node.entry === undefined || node.entry.kind === 'folder'
