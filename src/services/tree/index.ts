import type { Db } from '../../../db/index.ts'
import type { EventService } from '../notices/event.ts'
import type { BlobService } from './blob.ts'
import { driveService } from './drive.ts'
import { entryChangeService } from './entry-change.ts'
import { entryListService } from './entry-list.ts'
import { entryRemovalService } from './entry-removal.ts'
import { fileService } from './file.ts'
import { folderService } from './folder.ts'
import { listingService } from './listing.ts'
import { trashItemService } from './trash-item.ts'

/** The services of drives, and of what is in them. */
export function treeServices(base: {
  db: Db
  blobs: BlobService
  events: EventService
  trashDays: number
  keptPercent: number
  wake: () => void
}) {
  const listings = listingService(base)
  const within = { ...base, listings, removal: entryRemovalService(base) }
  return {
    drives: driveService(base),
    entryChanges: entryChangeService(within),
    entryLists: entryListService(base),
    files: fileService(within),
    folders: folderService(within),
    listings,
    trashItems: trashItemService(within),
  }
}
