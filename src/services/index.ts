import type { AccountService } from './account.ts'
import type { AccountEndService } from './account-end.ts'
import type { ApiKeyService } from './api-key.ts'
import type { AppointmentService } from './appointment.ts'
import type { BlobService } from './blob.ts'
import type { DirectShareService } from './direct-share.ts'
import type { DownloadService } from './download.ts'
import type { FileService } from './file.ts'
import type { FolderService } from './folder.ts'
import type { IdentityService } from './identity.ts'
import type { InviteService } from './invite.ts'
import type { ListingService } from './listing.ts'
import type { MailingService } from './mailing.ts'
import type { MemberService } from './member.ts'
import type { NoteService } from './note.ts'
import type { OperatorService } from './operator.ts'
import type { OverviewService } from './overview.ts'
import type { RateLimitService } from './rate-limit.ts'
import type { SessionService } from './session.ts'
import type { ShareService } from './share.ts'
import type { ShareLinkService } from './share-link.ts'
import type { StatisticService } from './statistic.ts'
import type { SubscriptionService } from './subscription.ts'
import type { UploadCompletionService } from './upload-completion.ts'
import type { UploadSessionService } from './upload-session.ts'
import type { UserService } from './user.ts'
import type { WorkspaceService } from './workspace.ts'

/** The services of the API, created once in app.ts and passed to every request. */
export interface Services {
  accounts: AccountService
  accountEnd: AccountEndService
  apiKeys: ApiKeyService
  appointments: AppointmentService
  blobs: BlobService
  directShares: DirectShareService
  downloads: DownloadService
  files: FileService
  folders: FolderService
  identities: IdentityService
  invites: InviteService
  listings: ListingService
  mailings: MailingService
  members: MemberService
  notes: NoteService
  operators: OperatorService
  overviews: OverviewService
  rateLimits: RateLimitService
  sessions: SessionService
  shareLinks: ShareLinkService
  shares: ShareService
  statistics: StatisticService
  subscriptions: SubscriptionService
  uploadCompletions: UploadCompletionService
  uploadSessions: UploadSessionService
  users: UserService
  workspaces: WorkspaceService
}
