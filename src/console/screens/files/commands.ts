import type { Place } from '../../drive/place.ts'
import type { Selection } from '../../listing/selection.ts'
import type { Point } from '../../parts/menu.tsx'
import type { Destination } from '../../uploads/uploads.ts'
import type { Act } from './act.ts'
import type { Entry } from './documents.ts'
import type { FilesSearch } from './search.ts'
import type { DriveHere } from './use-folder.ts'
import type { FilesView } from './view.ts'

/** The open dialog. */
export type Open =
  | 'new-folder'
  | 'new-text'
  | 'picker'
  | 'copy-picker'
  | 'share'
  | 'request'
  | 'delete'
  | 'tags'
  | 'manage-tags'
  | null

/** The state and actions that the toolbar, menus and keys share. */
export interface Commands {
  place: Place
  search: FilesSearch & FilesView
  setSearch: (change: FilesSearch & FilesView, options?: { push?: boolean }) => void
  drive: DriveHere | undefined
  selected: readonly Entry[]
  selection: Selection
  select: (next: Selection) => void
  act: Act
  /** Deletes entries. It asks first if the deletion is permanent. */
  remove: (entries: readonly Entry[]) => void
  setOpen: (open: Open) => void
  startRename: (entry: Entry) => void
  setMenu: (menu: { at: Point; entries: readonly Entry[] } | null) => void
  openEntry: (entry: Entry) => void
  /** Opens another screen of the drive. */
  openScreen: (screen: 'trash' | 'activity' | 'pictures') => void
  /** Where uploads go. */
  target: Destination | undefined
}

/** Lets the person pick files, and uploads them here. */
export const pickFiles = ({ target }: Pick<Commands, 'target'>): void =>
  void (
    target &&
    import('../../uploads/pick-and-add.ts').then(({ pickAndAdd }) => pickAndAdd('files', target))
  )

/** The most entries that one share can have. */
const SHARED_AT_ONCE = 100

/** Whether the person may share these entries. */
export const mayShare = (drive: DriveHere | undefined, entries: readonly Entry[]): boolean =>
  Boolean(drive?.canShare) && entries.length > 0 && entries.length <= SHARED_AT_ONCE

/** Whether these entries can be favourites. */
export const mayMark = (drive: DriveHere | undefined): boolean =>
  !drive?.share && !drive?.mixed?.hasShared

/** Whether these entries can be cut or copied. */
export const mayTake = (drive: DriveHere | undefined): boolean => !drive?.share && !drive?.mixed

/** Whether these entries can be copied to another folder. */
export const mayCopyTo = (drive: DriveHere | undefined): boolean =>
  Boolean(drive?.canWrite || drive?.share || drive?.mixed)
