import type { SearchIndex } from '../../db/search/index.ts'
import type { Caller } from '../access/caller.ts'
import { createGuessLimiter } from '../access/guessing.ts'
import { createPasswords } from '../access/password.ts'
import type { Config } from '../config/config.ts'
import type { Derive } from '../derive/derive.ts'
import type { History } from '../telemetry/recorder.ts'
import { accountService } from './accounts/account.ts'
import { accountEndService } from './accounts/account-end.ts'
import { accountExportService } from './accounts/account-export.ts'
import { apiKeyService } from './accounts/api-key.ts'
import { appointmentService } from './accounts/appointment.ts'
import { favouriteService } from './accounts/favourite.ts'
import { filesViewService } from './accounts/files-view.ts'
import { identityService } from './accounts/identity.ts'
import { loginService } from './accounts/login.ts'
import { loginLinkService } from './accounts/login-link.ts'
import { loginNoticeService } from './accounts/login-notice.ts'
import { loginRequestService } from './accounts/login-request.ts'
import { oauthClientService } from './accounts/oauth-client.ts'
import { oauthTokenService } from './accounts/oauth-token.ts'
import { operatorService } from './accounts/operator.ts'
import { overviewService } from './accounts/overview.ts'
import { passkeyService } from './accounts/passkey.ts'
import { personService } from './accounts/person.ts'
import { planService } from './accounts/plan.ts'
import { proofService } from './accounts/proof.ts'
import { secondFactorService } from './accounts/second-factor.ts'
import { sessionService } from './accounts/session.ts'
import { statisticService } from './accounts/statistic.ts'
import { storageReportService } from './accounts/storage-report.ts'
import { userService } from './accounts/user.ts'
import { zipService } from './archives/zip.ts'
import type { Core } from './core.ts'
import { healthService } from './health.ts'
import { assistantCallService } from './history/assistant-call.ts'
import { auditService } from './history/audit.ts'
import { eventFeedService } from './history/event-feed.ts'
import { recentService } from './history/recent.ts'
import { shareEventService } from './history/share-event.ts'
import type { MaintenanceService } from './maintenance.ts'
import { nodeService } from './node.ts'
import { mailingService } from './notices/mailing.ts'
import { subscriptionService } from './notices/subscription.ts'
import { webhookService } from './notices/webhook.ts'
import type { MayReach } from './notices/webhook-address.ts'
import { rateLimitService } from './rate-limit.ts'
import { searchService } from './search/search.ts'
import { searchIndexService } from './search/search-index.ts'
import { contentsService } from './search/search-text.ts'
import { directShareService } from './sharing/direct-share.ts'
import { downloadService } from './sharing/download.ts'
import { fileRequestService } from './sharing/file-request.ts'
import { fileRequestLinkService } from './sharing/file-request-link.ts'
import { fileRequestUploadService } from './sharing/file-request-upload.ts'
import { grantService } from './sharing/grant.ts'
import { personAccessService } from './sharing/person-access.ts'
import { shareService } from './sharing/share.ts'
import { shareEndService } from './sharing/share-end.ts'
import { shareLinkService } from './sharing/share-link.ts'
import { shareNoticeService } from './sharing/share-notice.ts'
import { shareSaveService } from './sharing/share-save.ts'
import { sharingRuleService } from './sharing/sharing-rule.ts'
import { backgroundCopyService } from './tree/background-copy.ts'
import { blobService } from './tree/blob.ts'
import { davLockService } from './tree/dav-lock.ts'
import { davPropertyService } from './tree/dav-property.ts'
import { driveService } from './tree/drive.ts'
import { treeChangeRunner } from './tree/entry.ts'
import { entryChangeService } from './tree/entry-change.ts'
import { entryCopyService } from './tree/entry-copy.ts'
import { entryListService } from './tree/entry-list.ts'
import { entryRemovalService } from './tree/entry-removal.ts'
import { fileService } from './tree/file.ts'
import { folderService } from './tree/folder.ts'
import { keptService } from './tree/kept.ts'
import { listingService } from './tree/listing.ts'
import { noteService } from './tree/note.ts'
import { pictureService } from './tree/picture.ts'
import { previewService } from './tree/preview.ts'
import { tagService } from './tree/tag.ts'
import { trashItemService } from './tree/trash-item.ts'
import { versionService } from './tree/version.ts'
import { backgroundCompletionService } from './uploads/background-completion.ts'
import { uploadChunkService } from './uploads/upload-chunk.ts'
import { uploadCompletionService } from './uploads/upload-completion.ts'
import { uploadSessionService } from './uploads/upload-session.ts'
import { uploadStreamService } from './uploads/upload-stream.ts'
import { groupMembershipService } from './workspaces/group-membership.ts'
import { inviteService } from './workspaces/invite.ts'
import { memberService } from './workspaces/member.ts'
import { workspaceService } from './workspaces/workspace.ts'

interface Options extends Core {
  config: Config
  mayReach: MayReach
  maintenance: MaintenanceService
  history: History
  /** The name of this instance. */
  instanceName: string
  /** Identifies this instance across its restarts. */
  instanceKey: string
  derive: Derive
  index: SearchIndex
  /**
   * Finds the caller by the credential of an earlier request. Null if the credential is no longer
   * valid.
   */
  findCaller: (credential: Pick<Caller, 'via' | 'credentialId'>) => Promise<Caller | null>
  /** Notifies the webhook delivery of changed webhooks. */
  wakeWebhooks: () => void
}

/** Creates the services of the API once. Every request uses them. */
export function createServices({ config, ...given }: Options) {
  const core = { ...config, ...given }
  const { coordination, log, telemetry } = core
  const passwords = createPasswords(log)
  const changeTree = treeChangeRunner(core)
  const removal = entryRemovalService(core)

  const blobs = blobService(core)
  const listings = listingService(core)
  const versions = versionService({ ...core, changeTree, listings })
  const previews = previewService({ ...core, blobs })
  const trees = { ...core, changeTree, removal, blobs, listings, versions, previews }
  const files = fileService(trees)
  const trashItems = trashItemService(trees)

  const uploadSessions = uploadSessionService({ ...core, blobs, files })
  const uploadCompletions = uploadCompletionService({
    ...core,
    blobs,
    files,
    changeTree,
    uploadSessions,
    previews,
  })

  const backgroundCompletions = backgroundCompletionService({
    ...core,
    uploadSessions,
    uploadCompletions,
  })

  const eventFeeds = eventFeedService(core)
  const shareEvents = shareEventService(core)
  const mailings = mailingService(core)
  const downloads = downloadService({
    ...core,
    files,
    listings,
    proxied: config.downloads === 'proxy',
  })
  const zips = zipService(core)
  const guesses = createGuessLimiter(coordination, {}, telemetry)
  const shareNotices = shareNoticeService(core)
  const entryLists = entryListService(core)
  const shareLinks = shareLinkService({
    ...core,
    listings,
    entryLists,
    shareEvents,
    shareNotices,
    downloads,
    zips,
    guesses,
    passwords,
    previews,
  })
  const rules = sharingRuleService(core)
  const shares = shareService({ ...core, listings, shareLinks, passwords, rules })
  const shareEnds = shareEndService(core)
  const members = memberService(core)
  const requireShare = shareLinks.requireStill
  const backgroundCopies = backgroundCopyService({ ...trees, requireShare })
  const entryCopies = entryCopyService({ ...trees, backgroundCopies })
  const fileRequestLinks = fileRequestLinkService({ ...core, guesses, passwords })
  const invites = inviteService({ ...core, mailings })
  const sessions = sessionService(core)
  const users = userService(core)
  const groupMemberships = groupMembershipService(core)
  const workspaces = workspaceService(core)
  const fileRequests = fileRequestService({ ...core, passwords, rules })
  const proofs = proofService({ ...core, hasAccounts: config.accounts })
  const apiKeys = apiKeyService({ ...core, proofs })
  const rateLimits = rateLimitService({ rules: config.rates, coordination, measures: telemetry })
  const oauthClients = oauthClientService({ ...core, rateLimits })
  const oauthTokens = oauthTokenService({ ...core, apiKeys, rateLimits })
  const contents = contentsService(core)
  const appointments = appointmentService(core)
  const notices = loginNoticeService(core)
  const accounts = accountService({
    ...core,
    isFrozen: () => core.maintenance.current() !== null,
  })
  const searchIndex = searchIndexService({
    ...core,
    contents,
    isPaused: () => core.maintenance.current() !== null,
  })
  const ofPerson = {
    fileRequests,
    invites,
    listings,
    sessions,
    shares,
    trashItems,
    users,
    workspaces,
  }

  const uploadStreams = uploadStreamService({
    ...core,
    blobs,
    uploadSessions,
    uploadCompletions,
    backgroundCompletions,
  })
  return {
    blobs,
    listings,
    versions,
    files,
    trashItems,
    uploadSessions,
    uploadCompletions,
    eventFeeds,
    shareEvents,
    fileRequests,
    mailings,
    downloads,
    zips,
    shareEnds,
    shareLinks,
    shareNotices,
    shares,
    invites,
    sessions,
    users,
    workspaces,
    accounts,
    contents,
    searchIndex,
    searches: searchService({ ...core, shares, searchIndex, contents }),
    groupMemberships,
    accountEnd: accountEndService({ ...core, proofs }),
    accountExports: accountExportService({ ...core, ...ofPerson, eventFeeds }),
    apiKeys,
    proofs,
    appointments,
    assistantCalls: assistantCallService({ ...core, apiKeys }),
    audits: auditService(core),
    backgroundCompletions,
    uploadStreams,
    uploadChunks: uploadChunkService({ ...core, blobs, uploadStreams }),
    davLocks: davLockService(trees),
    davProperties: davPropertyService(trees),
    directShares: directShareService({
      ...core,
      listings,
      shareLinks,
      mailings,
      shares,
      passwords,
      rules,
    }),
    drives: driveService(core),
    entryChanges: entryChangeService(trees),
    backgroundCopies,
    entryCopies,
    entryLists,
    fileRequestLinks,
    fileRequestUploads: fileRequestUploadService({
      ...core,
      blobs,
      fileRequestLinks,
      files,
      uploadSessions,
      uploadCompletions,
    }),
    favourites: favouriteService(core),
    filesViews: filesViewService(core),
    folders: folderService(trees),
    grants: grantService(core),
    health: healthService(core),
    identities: identityService({ ...core, accounts, proofs }),
    maintenance: core.maintenance,
    kept: keptService({ ...core, trashItems }),
    members,
    nodes: nodeService(core),
    notes: noteService({ ...core, listings }),
    operators: operatorService(core),
    overviews: overviewService(core),
    personAccess: personAccessService({ ...core, members, shareEnds }),
    persons: personService(core),
    plans: planService(core),
    recent: recentService(core),
    rateLimits,
    logins: loginService({
      ...core,
      links: loginLinkService(core),
      accounts,
      appointments,
      invites,
      notices,
      guesses,
      // One at a time, so that guesses leave a processor to other requests.
      hashes: createPasswords(log, 1),
    }),
    passkeys: passkeyService({ ...core, notices }),
    secondFactors: secondFactorService({ ...core, guesses, notices }),
    oauthClients,
    oauthTokens,
    loginRequests: loginRequestService({
      ...core,
      apiKeys,
      guesses,
      rateLimits,
      oauthClients,
      oauthTokens,
    }),
    pictures: pictureService(core),
    previews,
    shareSaves: shareSaveService({ ...core, entryCopies, shareEvents, shareLinks }),
    statistics: statisticService(core),
    storageReports: storageReportService(core),
    tags: tagService({ ...core, changeTree, entryLists }),
    subscriptions: subscriptionService({ ...core, shares, invites, users, eventFeeds }),
    webhooks: webhookService({ ...core, eventFeeds }),
  }
}

export type Services = ReturnType<typeof createServices>
