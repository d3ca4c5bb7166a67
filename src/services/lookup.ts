import type { Db } from '../../db/index.ts'
import type { BlobStore } from '../storage/store.ts'
import { accountDetailService } from './accounts/account-detail.ts'
import { personService } from './accounts/person.ts'
import { statisticService } from './accounts/statistic.ts'
import { storageReportService } from './accounts/storage-report.ts'
import { eventFeedService } from './history/event-feed.ts'
import { shareEventService } from './history/share-event.ts'
import { nodeService } from './node.ts'

/** The services by which the graph finds nodes, counts, and reads what happened. */
export const lookupServices = ({ db, store }: { db: Db; store: BlobStore }) => ({
  accountDetails: accountDetailService({ db }),
  eventFeeds: eventFeedService({ db }),
  nodes: nodeService({ db }),
  persons: personService({ db }),
  shareEvents: shareEventService({ db }),
  statistics: statisticService({ db }),
  storageReports: storageReportService({ db, store }),
})
