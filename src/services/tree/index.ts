import type { Db } from '../../../db/index.ts'
import type { Config } from '../../config.ts'
import type { ChangeRunner } from '../history/event.ts'
import type { PubSub } from '../notices/pub-sub.ts'
import type { BlobService } from './blob.ts'
import { driveService } from './drive.ts'
import { treeChangeRunner } from './entry.ts'
import { entryChangeService } from './entry-change.ts'
import { entryListService } from './entry-list.ts'
import { entryRemovalService } from './entry-removal.ts'
import { fileService } from './file.ts'
import { folderService } from './folder.ts'
import { keptService } from './kept.ts'
import { listingService } from './listing.ts'
import { trashItemService } from './trash-item.ts'
import { versionService } from './version.ts'

/** The services of drives, and of what is in them. */
export function treeServices({
  config,
  ...core
}: {
  db: Db
  blobs: BlobService
  change: ChangeRunner
  pubSub: PubSub
  config: Pick<Config, 'trashDays' | 'versionsKept' | 'versionDays' | 'keptPercent'>
  wake: () => void
}) {
  const { trashDays, versionsKept, versionDays, keptPercent } = config
  const changeTree = treeChangeRunner(core)
  const base = { ...core, change: changeTree, trashDays, versionsKept, versionDays, keptPercent }
  const listings = listingService(base)
  const versions = versionService({ ...base, listings })
  const within = { ...base, listings, versions, removal: entryRemovalService(base) }
  const trashItems = trashItemService(within)
  return {
    changeTree,
    drives: driveService(base),
    entryChanges: entryChangeService(within),
    entryLists: entryListService(base),
    files: fileService(within),
    folders: folderService(within),
    kept: keptService({ ...base, trashItems }),
    listings,
    trashItems,
    versions,
  }
}
