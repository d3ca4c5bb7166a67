import type { EntryRow } from '../db/queries/entry-list.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import type { WorkspaceView } from '../src/services/workspaces/workspace.ts'
import { builder } from './builder.ts'

/** A file or folder of a drive that the caller may read. */
export interface EntryNode extends EntryRow {
  drive: DriveValue
  /** The names from the root down, the entry's own last; none for the root. */
  names: string[]
  /** Null for the root. */
  parentId: string | null
  /** Null for a folder. */
  blobId: string | null
}

// Types that refer to each other. The file of each noun implements its type.
export const Drive = builder.objectRef<DriveValue>('Drive')
export const Entry = builder.interfaceRef<EntryNode>('Entry')
export const File = builder.objectRef<EntryNode>('File')
export const Folder = builder.objectRef<EntryNode>('Folder')
export const Workspace = builder.objectRef<WorkspaceView>('Workspace')
