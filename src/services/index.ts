import type { AccountService } from './accounts/account.ts'
import type { AccountEndService } from './accounts/account-end.ts'
import type { AccountExportService } from './accounts/account-export.ts'
import type { ApiKeyService } from './accounts/api-key.ts'
import type { AppointmentService } from './accounts/appointment.ts'
import type { IdentityService } from './accounts/identity.ts'
import type { OperatorService } from './accounts/operator.ts'
import type { OverviewService } from './accounts/overview.ts'
import type { SessionService } from './accounts/session.ts'
import type { UserService } from './accounts/user.ts'
import type { lookupServices } from './lookup.ts'
import type { MailingService } from './notices/mailing.ts'
import type { SubscriptionService } from './notices/subscription.ts'
import type { WebhookService } from './notices/webhook.ts'
import type { RateLimitService } from './rate-limit.ts'
import type { DirectShareService } from './sharing/direct-share.ts'
import type { DownloadService } from './sharing/download.ts'
import type { ShareService } from './sharing/share.ts'
import type { ShareLinkService } from './sharing/share-link.ts'
import type { BlobService } from './tree/blob.ts'
import type { treeServices } from './tree/index.ts'
import type { NoteService } from './tree/note.ts'
import type { uploadServices } from './uploads/index.ts'
import type { InviteService } from './workspaces/invite.ts'
import type { MemberService } from './workspaces/member.ts'
import type { WorkspaceService } from './workspaces/workspace.ts'

/** The services of the API, created once in app.ts and passed to every request. */
export interface Services
  extends ReturnType<typeof lookupServices>,
    Omit<ReturnType<typeof treeServices>, 'changeTree'>,
    ReturnType<typeof uploadServices> {
  accounts: AccountService
  accountEnd: AccountEndService
  accountExports: AccountExportService
  apiKeys: ApiKeyService
  appointments: AppointmentService
  blobs: BlobService
  directShares: DirectShareService
  downloads: DownloadService
  identities: IdentityService
  invites: InviteService
  mailings: MailingService
  members: MemberService
  notes: NoteService
  operators: OperatorService
  overviews: OverviewService
  rateLimits: RateLimitService
  sessions: SessionService
  shareLinks: ShareLinkService
  shares: ShareService
  subscriptions: SubscriptionService
  users: UserService
  webhooks: WebhookService
  workspaces: WorkspaceService
}
