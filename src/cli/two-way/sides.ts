import type { Node, Tree } from './tree.ts'

/**
 * `other` is an entry that is not synced and must not be touched: a symbolic link, an ignored
 * entry, or a name that is impossible here.
 */
export type Kind = 'file' | 'folder' | 'other'

/** The fields of a local entry that a plan needs. */
export interface LocalItem {
  kind: Kind
  /** For files. */
  size: number
  /** For files; undefined if the file was not read, because no relevant file has its size. */
  md5?: string | undefined
  /** Identifies the file or folder after a rename; null if the file system cannot. */
  identity: string | null
}

/** The fields of a remote entry that a plan needs. */
export interface RemoteItem {
  kind: Kind
  id: string
  size: number
  md5: string
  /** Increases with each change of the entry itself. */
  revision: number
}

/** The record of a file or folder that was equal on both sides. */
export interface Agreed {
  kind: 'file' | 'folder'
  /** Id of the remote entry. */
  id: string
  /** Revision of the remote entry. */
  revision: number
  /** Identity of the local entry; null if unknown. */
  identity: string | null
  size: number
  md5: string
  /** Metadata of the local file. */
  mtimeMs: number
  ctimeMs: number
  /**
   * What one side had instead at a later scan. It is saved before an action copies that to the
   * other side.
   */
  seen?: Seen
}

/** Content of a file that both sides have because it was transferred or moved. */
export interface Sent extends Pick<Agreed, 'size' | 'md5'> {
  /** Id of the remote entry, if known. A different id at its path is a different file. */
  id?: string
}

export interface Seen {
  side: Side
  /** For files, whose digest may be unknown; null for nothing. */
  content: Omit<Content, 'kind'> | null
}

export type Side = 'local' | 'remote'

export const otherSide = (side: Side): Side => (side === 'local' ? 'remote' : 'local')

/** A change that brings the sides closer. Its paths are those after the moves before it. */
export interface Action {
  side: Side
  /** `conflict`: both versions are kept, the local one under another name. */
  action: 'move' | 'upload' | 'download' | 'mkdir' | 'conflict' | 'delete'
  path: string
  /** For a move: the current path. */
  from?: string
  /** For a move: the id of the remote entry, or the identity of the local one. */
  id?: string | null
  /** For the move of a file: the last common content, if known. */
  last?: Sent
  /** For a move: whether the entry has its recorded metadata. */
  isAsKnown?: boolean
  /** For a conflict: the new name of the local version. */
  keptAs?: string
  /** Whether an existing entry is replaced. */
  replaces?: boolean
  /** Size of a file, in bytes. */
  size?: number
  /** For a deletion: the number of deleted files. */
  files?: number
}

export interface Trees<L extends LocalItem = LocalItem, R extends RemoteItem = RemoteItem> {
  local: Tree<L>
  base: Tree<Agreed>
  remote: Tree<R>
}

/** The part of an entry that counts as its content. */
export type Content = Pick<RemoteItem, 'kind' | 'size'> & { md5?: string | undefined }

/** Whether both are files with the same content. */
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
