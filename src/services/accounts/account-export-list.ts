import type { Db } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import { type EventKind, personKinds } from '../../../db/models/event.ts'
import { pageOfApiKeysBy } from '../../../db/queries/api-key.ts'
import { favouritesOf } from '../../../db/queries/favourite.ts'
import { pageOfInvitesBy } from '../../../db/queries/invite.ts'
import { pageOfNotes } from '../../../db/queries/note.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import { entriesWithTag, tagsOfBuckets } from '../../../db/queries/tag.ts'
import { modifiedAtOf, versionsOfBucket } from '../../../db/queries/version.ts'
import { webhooksOfUser } from '../../../db/queries/webhook.ts'
import type { Caller } from '../../access/caller.ts'
import { joinPath } from '../../values/paths.ts'
import type { Core } from '../core.ts'
import type { EventView } from '../history/event.ts'
import type { EventFeedService } from '../history/event-feed.ts'
import { onWire } from '../history/event-wire.ts'
import type { FileRequestService } from '../sharing/file-request.ts'
import type { ShareService } from '../sharing/share.ts'
import type { ListingService } from '../tree/listing.ts'
import type { TrashItemService } from '../tree/trash-item.ts'
import type { InviteService } from '../workspaces/invite.ts'
import type { WorkspaceService } from '../workspaces/workspace.ts'
import type { SessionService } from './session.ts'
import type { UserService } from './user.ts'

export interface ExportDeps extends Core<'db'> {
  eventFeeds: EventFeedService
  fileRequests: FileRequestService
  invites: InviteService
  listings: ListingService
  sessions: SessionService
  shares: ShareService
  trashItems: TrashItemService
  users: UserService
  workspaces: WorkspaceService
}

/** The log of a drive, and the part of it that the caller may see. */
export interface DriveLog {
  id: string
  eventKinds: readonly EventKind[]
}

/** The number of rows that one statement reads. Memory never holds more. */
const ROWS = 1000
/**
 * The number of notes that one statement reads. Notes are long: 1,000 would take 20 MB for each
 * slow client.
 */
const NOTES = 50

export const time = (at: number): string => new Date(at).toISOString()
const timeIfAny = (at: number | null): string | null => (at === null ? null : time(at))

/** Lists by their names in the file, each read in pages. */
type Lists = Record<string, AsyncIterable<object[]>>

/** The lists of an export, in the order of the file. */
export const exportLists = (deps: ExportDeps, caller: Caller, drive: DriveLog): Lists => ({
  ...accountLists(deps, caller),
  ...sharingLists(deps, caller),
  ...driveLists(deps, caller),
  ...eventLists(deps, caller, drive),
})

/** How a person signs in, and what belongs to the account. */
function accountLists(
  { db, users, sessions, workspaces, invites }: ExportDeps,
  caller: Caller,
): Lists {
  const { userId } = caller
  return {
    identities: rows(
      async () => users.identities(caller),
      ({ id, provider, providerUserId, email, emailVerified, name, avatarUrl, createdAt }) => ({
        id,
        provider,
        provider_user_id: providerUserId,
        email,
        email_verified: emailVerified,
        name,
        avatar_url: avatarUrl,
        created_at: time(createdAt),
      }),
    ),
    sessions: rows(
      () => sessions.list(caller),
      ({ id, device, address, createdAt, lastUsedAt, expiresAt, current }) => ({
        id,
        device,
        address,
        current,
        created_at: time(createdAt),
        last_used_at: time(lastUsedAt),
        expires_at: time(expiresAt),
      }),
    ),
    api_keys: mapped(
      pages((after: string | null) => pageOfApiKeysBy(db, userId, ROWS, after ?? ''), idOf),
      ({ id, name, description, scopes, workspaceId, createdAt, lastUsedAt, expiresAt }) => ({
        id,
        name,
        description,
        scopes: scopes.split(' '),
        workspace_id: workspaceId,
        created_at: time(createdAt),
        last_used_at: timeIfAny(lastUsedAt),
        expires_at: timeIfAny(expiresAt),
      }),
    ),
    webhooks: rows(
      () => webhooksOfUser(db, userId),
      // Anyone who knows the URL may be able to write to it.
      ({ id, url, state, createdAt }) => ({
        id,
        host: new URL(url).host,
        state,
        created_at: time(createdAt),
      }),
    ),
    workspaces: mapped(
      pages((after: string | null) => workspaces.page(caller, ROWS, after), idOf),
      ({ id, name, slug, role, createdAt }) => ({
        id,
        name,
        slug,
        role,
        created_at: time(createdAt),
      }),
    ),
    invites_received: mapped(
      pages((after: string | null) => invites.pageOfMine(caller, ROWS, after), idOf),
      ({ id, workspaceId, workspaceName, role, createdAt, expiresAt }) => ({
        id,
        workspace_id: workspaceId,
        workspace_name: workspaceName,
        role,
        created_at: time(createdAt),
        expires_at: time(expiresAt),
      }),
    ),
    invites_sent: mapped(
      pages((after: string | null) => pageOfInvitesBy(db, userId, ROWS, after ?? ''), idOf),
      ({ id, workspaceId, email, role, createdAt, expiresAt }) => ({
        id,
        workspace_id: workspaceId,
        email,
        role,
        created_at: time(createdAt),
        expires_at: time(expiresAt),
      }),
    ),
  }
}

function sharingLists({ shares, fileRequests }: ExportDeps, caller: Caller): Lists {
  const sent = (ended: boolean) =>
    pages((after: string | null) => shares.sentBy(caller, ROWS, after, { ended }), idOf)
  return {
    shares_made: mapped(chained(sent(false), sent(true)), share => ({
      id: share.id,
      file_id: share.entryId,
      path: joinPath(share.names),
      workspace_id: share.workspaceId,
      shared_for: share.sharedFor || null,
      password_protected: share.passwordProtected,
      seen: share.seen,
      downloads: share.downloads,
      max_downloads: share.maxDownloads,
      created_at: time(share.createdAt),
      expires_at: timeIfAny(share.expiresAt),
      label: share.label,
      allow_download: share.allowDownload,
      may_edit: share.mayEdit,
      notifies: share.notifies,
    })),
    shares_received: mapped(
      pages((after: string | null) => shares.receivedBy(caller, ROWS, after), idOf),
      share => ({
        id: share.id,
        file_name: share.names.at(-1),
        file_type: share.fileType,
        size: share.size,
        md5_checksum: share.md5,
        shared_by: share.sharedBy,
        seen: share.seen,
        created_at: time(share.createdAt),
        expires_at: timeIfAny(share.expiresAt),
      }),
    ),
    file_requests: mapped(
      pages((after: string | null) => fileRequests.madeBy(caller, ROWS, after), idOf),
      request => ({
        id: request.id,
        label: request.label,
        message: request.message,
        folder: request.folder,
        folder_id: request.folderId,
        workspace_id: request.workspaceId,
        kinds: request.kinds,
        password_protected: request.passwordProtected,
        asks_name: request.asksName,
        notifies: request.notifies,
        max_files: request.maxFiles,
        max_file_size: request.maxFileBytes,
        max_bytes: request.maxBytes,
        files: request.files,
        bytes: request.bytes,
        created_at: time(request.createdAt),
        expires_at: timeIfAny(request.expiresAt),
        closed_at: timeIfAny(request.closedAt),
      }),
    ),
  }
}

/** The content of the drive. */
function driveLists({ db, listings, trashItems }: ExportDeps, { bucket, userId }: Caller): Lists {
  const entries = (kind: typeof FILE | typeof FOLDER) =>
    pages((after: string | null) => listings.ofKind(bucket, kind, ROWS, after), idOf)
  return {
    folders: mapped(entries(FOLDER), ({ id, names, createdAt, updatedAt }) => ({
      id,
      path: joinPath(names),
      created_at: time(createdAt),
      updated_at: time(updatedAt),
    })),
    files: mapped(
      entries(FILE),
      ({ id, names, fileType, size, md5, revision, createdAt, modifiedAt, updatedAt }) => ({
        id,
        path: joinPath(names),
        file_type: fileType,
        size,
        md5_checksum: md5,
        revision,
        created_at: time(createdAt),
        modified_at: time(modifiedAt),
        updated_at: time(updatedAt),
      }),
    ),
    tags: rows(
      async () => (await tagsOfBuckets(db, [bucket.bucketId])).get(bucket.bucketId) ?? [],
      ({ id, name, colour, createdAt }) => ({ id, name, colour, created_at: time(createdAt) }),
    ),
    tagged_entries: taggedEntries(db, bucket.bucketId),
    favourites: rows(
      () => favouritesOf(db, userId),
      ({ entryId, shareId, createdAt }) => ({
        entry_id: entryId,
        share_id: shareId,
        created_at: time(createdAt),
      }),
    ),
    notes: mapped(
      pages(
        (after: string | null) => pageOfNotes(db, bucket.bucketId, NOTES, after ?? ''),
        note => note.checksum,
      ),
      ({ checksum, content, updatedAt }) => ({
        md5_checksum: checksum,
        content,
        updated_at: time(updatedAt),
      }),
    ),
    versions: mapped(
      pages(
        (after: string | null) => versionsOfBucket(db, bucket.bucketId, ROWS, after ?? ''),
        idOf,
      ),
      ({ id, entryId, replacedAt, ...content }) => ({
        id,
        file_id: entryId,
        file_type: content.fileType,
        size: content.size,
        md5_checksum: content.md5,
        created_at: time(content.createdAt),
        modified_at: time(modifiedAtOf(content)),
        replaced_at: time(replacedAt),
      }),
    ),
    trash: mapped(
      pages((after: string | null) => trashItems.page(bucket.bucketId, ROWS, after), idOf),
      ({ id, kind, names, bytes, files, deletedAt, expiresAt }) => ({
        id,
        kind: kind === FILE ? 'file' : 'folder',
        path: joinPath(names),
        size: bytes,
        file_count: files,
        deleted_at: time(deletedAt),
        expires_at: time(expiresAt),
      }),
    ),
  }
}

function eventLists({ eventFeeds }: ExportDeps, { userId }: Caller, drive: DriveLog): Lists {
  const events = (logId: string, kinds: readonly EventKind[]) =>
    pages<EventView, number>(
      // From the newest back, so that the purge of old events does not overtake it.
      after => eventFeeds.pageAfter(logId, after, { limit: ROWS, newestFirst: true, kinds }),
      ({ seq }) => seq,
    )
  return {
    file_events: mapped(events(drive.id, drive.eventKinds), onWire),
    account_events: mapped(events(userId, personKinds), onWire),
  }
}

/** The tags of entries. */
async function* taggedEntries(db: Db, bucketId: string): AsyncGenerator<object[]> {
  for (const { id: tagId } of (await tagsOfBuckets(db, [bucketId])).get(bucketId) ?? [])
    yield* mapped(
      pages(
        async (after: string | null) =>
          pageOf(await entriesWithTag(db, tagId, after ?? '', ROWS + 1), ROWS),
        idOf,
      ),
      ({ id }) => ({ tag_id: tagId, entry_id: id }),
    )
}

const idOf = ({ id }: { id: string }): string => id

/**
 * All pages of a list.
 * @param keyOf the cursor after a row
 */
async function* pages<T, Key extends string | number>(
  read: (after: Key | null) => Promise<Page<T>>,
  keyOf: (row: T) => Key,
): AsyncGenerator<T[]> {
  let after: Key | null = null
  for (let more = true; more; ) {
    const page: Page<T> = await read(after)
    yield page.rows
    const row = page.rows.at(-1)
    after = (page.last as Key | undefined) ?? (row === undefined ? null : keyOf(row))
    more = page.more && after !== null
  }
}

async function* mapped<T>(
  list: AsyncIterable<T[]>,
  show: (row: T) => object,
): AsyncGenerator<object[]> {
  for await (const page of list) yield page.map(show)
}

/** A short list in one piece. */
async function* rows<T>(
  read: () => Promise<T[]>,
  show: (row: T) => object,
): AsyncGenerator<object[]> {
  yield (await read()).map(show)
}

async function* chained<T>(...lists: AsyncIterable<T>[]): AsyncGenerator<T> {
  for (const list of lists) yield* list
}
