import type { AccountService } from './accounts/account.ts'
import type { AccountDetailService } from './accounts/account-detail.ts'
import type { AccountEndService } from './accounts/account-end.ts'
import type { AccountExportService } from './accounts/account-export.ts'
import type { ApiKeyService } from './accounts/api-key.ts'
import type { AppointmentService } from './accounts/appointment.ts'
import type { IdentityService } from './accounts/identity.ts'
import type { OperatorService } from './accounts/operator.ts'
import type { OverviewService } from './accounts/overview.ts'
import type { PersonService } from './accounts/person.ts'
import type { SessionService } from './accounts/session.ts'
import type { StatisticService } from './accounts/statistic.ts'
import type { StorageReportService } from './accounts/storage-report.ts'
import type { UserService } from './accounts/user.ts'
import type { EventFeedService } from './history/event-feed.ts'
import type { ShareEventService } from './history/share-event.ts'
import type { NodeService } from './node.ts'
import type { MailingService } from './notices/mailing.ts'
import type { SubscriptionService } from './notices/subscription.ts'
import type { WebhookService } from './notices/webhook.ts'
import type { RateLimitService } from './rate-limit.ts'
import type { DirectShareService } from './sharing/direct-share.ts'
import type { DownloadService } from './sharing/download.ts'
import type { ShareService } from './sharing/share.ts'
import type { ShareLinkService } from './sharing/share-link.ts'
import type { BlobService } from './tree/blob.ts'
import type { DriveService } from './tree/drive.ts'
import type { EntryChangeService } from './tree/entry-change.ts'
import type { EntryListService } from './tree/entry-list.ts'
import type { FileService } from './tree/file.ts'
import type { FolderService } from './tree/folder.ts'
import type { KeptService } from './tree/kept.ts'
import type { ListingService } from './tree/listing.ts'
import type { NoteService } from './tree/note.ts'
import type { TrashItemService } from './tree/trash-item.ts'
import type { VersionService } from './tree/version.ts'
import type { UploadCompletionService } from './uploads/upload-completion.ts'
import type { UploadSessionService } from './uploads/upload-session.ts'
import type { InviteService } from './workspaces/invite.ts'
import type { MemberService } from './workspaces/member.ts'
import type { WorkspaceService } from './workspaces/workspace.ts'

/** The services of the API, created once in app.ts and passed to every request. */
export interface Services {
  accounts: AccountService
  accountDetails: AccountDetailService
  accountEnd: AccountEndService
  accountExports: AccountExportService
  apiKeys: ApiKeyService
  appointments: AppointmentService
  blobs: BlobService
  directShares: DirectShareService
  downloads: DownloadService
  drives: DriveService
  entryChanges: EntryChangeService
  entryLists: EntryListService
  eventFeeds: EventFeedService
  files: FileService
  folders: FolderService
  identities: IdentityService
  invites: InviteService
  kept: KeptService
  listings: ListingService
  mailings: MailingService
  members: MemberService
  nodes: NodeService
  notes: NoteService
  operators: OperatorService
  overviews: OverviewService
  persons: PersonService
  rateLimits: RateLimitService
  sessions: SessionService
  shareEvents: ShareEventService
  shareLinks: ShareLinkService
  shares: ShareService
  statistics: StatisticService
  storageReports: StorageReportService
  subscriptions: SubscriptionService
  trashItems: TrashItemService
  uploadCompletions: UploadCompletionService
  uploadSessions: UploadSessionService
  users: UserService
  versions: VersionService
  webhooks: WebhookService
  workspaces: WorkspaceService
}
