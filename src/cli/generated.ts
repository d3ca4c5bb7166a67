// Made by test/client/generate.ts. npm run update makes it again.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** What abortUpload takes. */
export type AbortUploadInput = {
  /** The id of the upload. */
  uploadSession: string | number;
};

/** What acceptInvite takes. */
export type AcceptInviteInput = {
  /** The token of the invite. */
  token: string;
};

/** What addFavourites takes. */
export type AddFavouritesInput = {
  /** Files and folders from any drives. */
  entries?: Array<EntryRef> | null | undefined;
  /** The ids of received shares. */
  shares?: Array<string | number> | null | undefined;
};

/** Whether an API key can be used. */
export type ApiKeyStatus =
  /** The key works. */
  | 'ACTIVE'
  /** The key no longer works. */
  | 'EXPIRED';

/** The state of a background copy. If it is CANCELLED or FAILED, nothing was copied. */
export type BackgroundCopyState =
  /** It was cancelled, and nothing was copied. */
  | 'CANCELLED'
  /** It is being copied. */
  | 'COPYING'
  /** Everything was copied. */
  | 'DONE'
  /** It failed, and nothing was copied. */
  | 'FAILED';

/** What beginCompletion takes. */
export type BeginCompletionInput = {
  /** CRC-32 of the whole file in hex, to verify. */
  crc32?: string | null | undefined;
  /** The expected revision of the existing file; fails with REVISION_MISMATCH if it has another one. */
  expectedRevision?: number | null | undefined;
  /** A different name for the file. */
  fileName?: string | null | undefined;
  /** Path of a different folder. */
  folder?: string | null | undefined;
  /** MD5 of the whole file in hex, to verify. */
  md5?: string | null | undefined;
  /** SHA-256 of the whole file in hex, to verify. */
  sha256?: string | null | undefined;
  /** The id of the upload. */
  uploadSession: string | number;
  /** Seconds to wait for the completion, 0 to 10; by default 2. */
  wait?: number | null | undefined;
};

/** What changeMemberRole takes. */
export type ChangeMemberRoleInput = {
  /** The id of the member. */
  member: string | number;
  /** The new role. */
  role: Role;
};

/** What closeFileRequest takes. */
export type CloseFileRequestInput = {
  /** The id of the file request. */
  fileRequest: string | number;
};

/** The state of a completion. */
export type CompletionState =
  /** The file is complete. */
  | 'COMPLETED'
  /** The parts are being put together. */
  | 'COMPLETING'
  /** It failed. The upload can continue and be completed again. */
  | 'FAILED';

/** What copyEntries takes. */
export type CopyEntriesInput = {
  /** The entries to copy: 1 to 1,000 of one drive. */
  entries: Array<EntryRef>;
  /** A new name, for a single entry only. */
  name?: string | null | undefined;
  /** What to do if the name is taken; by default FAIL. REPLACE does not replace folders. */
  onConflict?: OnConflict | null | undefined;
  /** The destination folder, in any drive; missing folders of a path are created. */
  to: EntryRef;
};

/** What createApiKey takes. */
export type CreateApiKeyInput = {
  /** Up to 1,000 characters. */
  description?: string | null | undefined;
  /** A duration such as 90d; without it the key does not expire. */
  expiresIn?: string | null | undefined;
  /** 1 to 100 characters. */
  name: string;
  /** What it may be used for: scopes of private files, or of workspaces. */
  scopes: Array<Scope>;
  /** The id of the workspace. Without it, the key is a private one. */
  workspace?: string | number | null | undefined;
};

/** What createDirectShare takes. */
export type CreateDirectShareInput = {
  /** Whether the files may be downloaded, not only viewed on the page of the share. True by default. */
  allowDownload?: boolean | null | undefined;
  /** How long the share is valid from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never. By default 24h for a new link (LINK_DURATION) and 7d for a new share with a person. */
  duration?: string | null | undefined;
  /** The person with this verified address receives the files and folders. */
  email: string;
  /** 1 to 100 files and folders of one drive. */
  entries: Array<EntryRef>;
  /** A name for the share that only its sharer sees: up to 100 characters. */
  label?: string | null | undefined;
  /** Whether its recipient may edit: in a shared folder, upload, create folders, rename, move, replace and delete; of a shared file, replace the content. Editors may also download, and need no password. False by default. */
  mayEdit?: boolean | null | undefined;
  /** A message on its page and in the mail to the recipient, up to 1,000 characters. */
  message?: string | null | undefined;
  /** Whether its sharer gets mails about its use, at most once an hour. False by default. */
  notifies?: boolean | null | undefined;
  /** 1 to 128 characters. */
  password?: string | null | undefined;
  /** Whether to notify the recipient by mail. */
  sendEmail?: boolean | null | undefined;
  /** The heading of its page, instead of the name of the shared entry: up to 100 characters. */
  title?: string | null | undefined;
  /** Whether they become one share instead of one share each. A share of several entries cannot be edited. False by default. */
  together?: boolean | null | undefined;
};

/** What createFileRequest takes. */
export type CreateFileRequestInput = {
  /** Whether senders must give a name. */
  asksName?: boolean | null | undefined;
  /** How long it is open from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never. */
  duration?: string | null | undefined;
  /** The names of up to 150 expected senders, with up to 100 characters each. Senders must then give their name. */
  expected?: Array<string> | null | undefined;
  /** The folder; an empty path is the root. */
  folder: EntryRef;
  /** Up to 20 accepted extensions or media types: ".pdf", "image/*", "text/csv". */
  kinds?: Array<string> | null | undefined;
  /** What the request asks for: 1 to 100 characters. */
  label: string;
  /** Maximum bytes of all files together. */
  maxBytes?: number | null | undefined;
  /** Maximum bytes of one file. */
  maxFileSize?: number | null | undefined;
  /** Maximum number of files, 1 to 1,000,000. */
  maxFiles?: number | null | undefined;
  /** A message to the senders, up to 1,000 characters. */
  message?: string | null | undefined;
  /** Whether you get mails about new files, at most once an hour. */
  notifies?: boolean | null | undefined;
  /** 1 to 128 characters. */
  password?: string | null | undefined;
  /** Where the name of a sender becomes part of the place of a file. With PREFIX and FOLDER, senders must give their name. NONE by default. */
  senderPlace?: SenderPlace | null | undefined;
};

/** What createFolder takes. */
export type CreateFolderInput = {
  /** Its place. */
  at: DrivePath;
};

/** What createInvite takes. */
export type CreateInviteInput = {
  /** The person with this verified address may accept. */
  email: string;
  /** A message for the mail, up to 1,000 characters. It is not stored. */
  message?: string | null | undefined;
  /** The offered role; not OWNER. */
  role: Role;
  /** The id of the workspace. */
  workspace: string | number;
};

/** What createLink takes. */
export type CreateLinkInput = {
  /** Whether the files may be downloaded, not only viewed on the page of the share. True by default. */
  allowDownload?: boolean | null | undefined;
  /** How long the share is valid from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never. By default 24h for a new link (LINK_DURATION) and 7d for a new share with a person. */
  duration?: string | null | undefined;
  /** 1 to 100 files and folders of one drive. */
  entries: Array<EntryRef>;
  /** A name for the share that only its sharer sees: up to 100 characters. */
  label?: string | null | undefined;
  /** The maximum number of downloads, 1 to 1,000,000,000. Then the share ends. */
  maxDownloads?: number | null | undefined;
  /** A message on its page and in the mail to the recipient, up to 1,000 characters. */
  message?: string | null | undefined;
  /** Whether its sharer gets mails about its use, at most once an hour. False by default. */
  notifies?: boolean | null | undefined;
  /** 1 to 128 characters. */
  password?: string | null | undefined;
  /** The heading of its page, instead of the name of the shared entry: up to 100 characters. */
  title?: string | null | undefined;
};

/** What createTag takes. */
export type CreateTagInput = {
  /** Its colour; grey by default. */
  colour?: TagColour | null | undefined;
  /** The id of the drive; by default the caller's own. */
  drive?: string | number | null | undefined;
  /** Its name: 1 to 50 characters, without a comma. Names that differ only in case or accents are the same. */
  name: string;
};

/** What createWorkspace takes. */
export type CreateWorkspaceInput = {
  /** 1 to 64 characters. */
  name: string;
  /** 1 to 48 of a-z, 0-9 and -; by default made from the name. */
  slug?: string | null | undefined;
};

/** What deleteApiKey takes. */
export type DeleteApiKeyInput = {
  /** Its id. */
  apiKey: string | number;
};

/** What deleteEntries takes. */
export type DeleteEntriesInput = {
  /** The entries to delete: 1 to 1,000 of one drive. */
  entries: Array<EntryRef>;
  /** The expected revision of a single entry; fails with REVISION_MISMATCH if it has another one. */
  expectedRevision?: number | null | undefined;
  /** Whether to delete folders that are not empty. */
  recursive?: boolean | null | undefined;
};

/** What deleteFromTrash takes. */
export type DeleteFromTrashInput = {
  /** Ids of 1 to 1,000 items of one trash. */
  items: Array<string | number>;
};

/** What deleteTag takes. */
export type DeleteTagInput = {
  /** The id of the tag. */
  tag: string | number;
};

/** What deleteVersion takes. */
export type DeleteVersionInput = {
  /** The id of the version. */
  version: string | number;
};

/** What deleteWorkspace takes. */
export type DeleteWorkspaceInput = {
  /** Its id. */
  workspace: string | number;
};

/** What a browser does with a download. */
export type Disposition =
  /** The browser saves it. */
  | 'ATTACHMENT'
  /** The browser shows it, if that is safe. */
  | 'INLINE';

/** A path in a drive, at which nothing needs to exist. */
export type DrivePath = {
  /** The id of the drive; by default the caller's own. For uploading, creating, moving and deleting, also the id of a share that the caller may edit. */
  drive?: string | number | null | undefined;
  /** Names joined by slashes, from the root of the drive, or from the shared folder. */
  path: string;
};

/** What emptyTrash takes. */
export type EmptyTrashInput = {
  /** The id of the drive; by default the caller's own. */
  drive?: string | number | null | undefined;
};

/** The kind of an entry. */
export type EntryKind =
  /** A file. */
  | 'FILE'
  /** A folder. */
  | 'FOLDER';

/** A file or folder, by id or by place. */
export type EntryRef =
  {   /** Its place. */
  at: DrivePath; id?: never; }
  |  { at?: never;   /** Its id. */
  id: string | number; };

/** The `code` in the extensions of an error. The description of each mutation lists its codes, in addition to those that every field may have. */
export type ErrorCode =
  /** The person is already a member of the workspace. */
  | 'ALREADY_A_MEMBER'
  /** There is no such API key, or it is not yours. */
  | 'API_KEY_NOT_FOUND'
  /** The bytes differ from the given checksum. Nothing was saved. */
  | 'CHECKSUM_MISMATCH'
  /** There is no such background copy, or it is not yours. */
  | 'COPY_NOT_FOUND'
  /** Events after this cursor are no longer kept. Begin again. */
  | 'CURSOR_EXPIRED'
  /** There is no such favourite. */
  | 'FAVOURITE_NOT_FOUND'
  /** There is no such file or folder, or you may not see it. */
  | 'FILE_NOT_FOUND'
  /** The file request no longer accepts files. */
  | 'FILE_REQUEST_CLOSED'
  /** A limit of the file request is reached. */
  | 'FILE_REQUEST_FULL'
  /** There is no such file request, or it is not yours. */
  | 'FILE_REQUEST_NOT_FOUND'
  /** The file is larger than allowed. `max` is the limit in bytes. */
  | 'FILE_TOO_LARGE'
  /** The folder has content. Delete it recursively, or empty it first. */
  | 'FOLDER_NOT_EMPTY'
  /** There is no such folder, or you may not see it. */
  | 'FOLDER_NOT_FOUND'
  /** You may not do this. */
  | 'FORBIDDEN'
  /** There is no such identity. */
  | 'IDENTITY_NOT_FOUND'
  /** The API key lacks a scope. */
  | 'INSUFFICIENT_SCOPE'
  /** An unexpected error. The operator finds it in the log. */
  | 'INTERNAL'
  /** A duration is malformed or out of range. */
  | 'INVALID_DURATION'
  /** An argument is wrong. `field` is its path. */
  | 'INVALID_INPUT'
  /** The body is not valid JSON. */
  | 'INVALID_JSON'
  /** The mode of a download is unknown. REST only. */
  | 'INVALID_MODE'
  /** A path or name is not allowed. */
  | 'INVALID_PATH'
  /** A scope is unknown, or does not fit this kind of key. */
  | 'INVALID_SCOPE'
  /** The invite has expired. */
  | 'INVITE_EXPIRED'
  /** The invite is for another e-mail address. */
  | 'INVITE_NOT_FOR_YOU'
  /** There is no such invite. */
  | 'INVITE_NOT_FOUND'
  /** The API key belongs to another drive or workspace. */
  | 'KEY_OUT_OF_BOUNDS'
  /** The account would have no way to sign in. */
  | 'LAST_IDENTITY'
  /** The workspace would have no owner. */
  | 'LAST_OWNER'
  /** There is no such WebDAV lock. It may have ended. */
  | 'LOCK_NOT_FOUND'
  /** There is no such request of a program, or it has expired. */
  | 'LOGIN_REQUEST_NOT_FOUND'
  /** Changes are refused during a maintenance. `until` is its end; `retry_after` is in seconds. */
  | 'MAINTENANCE'
  /** There is no such member. */
  | 'MEMBER_NOT_FOUND'
  /** The path does not support this HTTP method. */
  | 'METHOD_NOT_ALLOWED'
  /** The disk of the service is full. Nothing was saved. */
  | 'NO_SPACE'
  /** The share needs a password. */
  | 'PASSWORD_REQUIRED'
  /** The name is taken. `path` is the path of the existing entry. */
  | 'PATH_EXISTS'
  /** Accounts have this plan. */
  | 'PLAN_IN_USE'
  /** Confirm at `url` that it is you, then repeat. */
  | 'PROOF_NEEDED'
  /** A limit is reached. `limit` is its name, `max` its value, and `used` what counts so far. */
  | 'QUOTA_EXCEEDED'
  /** Too many calls. Wait for `retry_after` seconds. */
  | 'RATE_LIMITED'
  /** The entry was changed meanwhile. `revision` is the current one, or null if it is gone. */
  | 'REVISION_MISMATCH'
  /** There is nothing at this path. */
  | 'ROUTE_NOT_FOUND'
  /** There is no such session. */
  | 'SESSION_NOT_FOUND'
  /** The share has expired. */
  | 'SHARE_EXPIRED'
  /** The shared folder has reached a limit for changes by its recipients. */
  | 'SHARE_FULL'
  /** There is no such share. It may have ended. */
  | 'SHARE_NOT_FOUND'
  /** The share has reached its number of downloads. */
  | 'SHARE_USED_UP'
  /** Another workspace has this slug. */
  | 'SLUG_TAKEN'
  /** The drive has a tag with this name. */
  | 'TAG_EXISTS'
  /** There is no such tag. */
  | 'TAG_NOT_FOUND'
  /** The signed URL is not valid, or no longer valid. */
  | 'TOKEN_NOT_FOUND'
  /** Too many wrong passwords. Wait before the next attempt. */
  | 'TOO_MANY_ATTEMPTS'
  /** There is no such item in the trash. */
  | 'TRASH_ITEM_NOT_FOUND'
  /** Sign in, or send a valid API key. */
  | 'UNAUTHENTICATED'
  /** A part of the service does not answer. Wait for `retry_after` seconds. */
  | 'UNAVAILABLE'
  /** The upload is being changed by another request. */
  | 'UPLOAD_BUSY'
  /** Parts have not arrived. `missing` lists their numbers. */
  | 'UPLOAD_INCOMPLETE'
  /** There is no such upload. It may have expired. */
  | 'UPLOAD_NOT_FOUND'
  /** There is no such account. */
  | 'USER_NOT_FOUND'
  /** There is no such version. */
  | 'VERSION_NOT_FOUND'
  /** There is no such webhook. */
  | 'WEBHOOK_NOT_FOUND'
  /** There is no such workspace. */
  | 'WORKSPACE_NOT_FOUND'
  /** The password is wrong. */
  | 'WRONG_PASSWORD';

/** What happened. */
export type EventKind =
  /** An operator reset the ways to sign in to the account. */
  | 'ACCOUNT_RESET'
  /** An operator restored the account. */
  | 'ACCOUNT_RESTORED'
  /** An operator suspended the account. */
  | 'ACCOUNT_SUSPENDED'
  /** The e-mail address of the account was changed. */
  | 'ADDRESS_CHANGED'
  /** A program called a tool of the MCP server with a key of the person. */
  | 'ASSISTANT_CALLED'
  /** New recovery codes were made. */
  | 'CODES_MADE'
  /** A second factor was set up. */
  | 'FACTOR_ADDED'
  /** A second factor was removed. */
  | 'FACTOR_REMOVED'
  /** A file was created as a copy. */
  | 'FILE_COPIED'
  /** A file was uploaded. */
  | 'FILE_CREATED'
  /** A file was moved to the trash. */
  | 'FILE_DELETED'
  /** A file was moved to another folder. */
  | 'FILE_MOVED'
  /** A file got another name. */
  | 'FILE_RENAMED'
  /** A file got new content. */
  | 'FILE_REPLACED'
  /** The terms of a file request were changed. */
  | 'FILE_REQUEST_CHANGED'
  /** A file request was closed. */
  | 'FILE_REQUEST_CLOSED'
  /** A file request was created. */
  | 'FILE_REQUEST_CREATED'
  /** A file was restored from the trash. */
  | 'FILE_RESTORED'
  /** A folder was created as a copy. */
  | 'FOLDER_COPIED'
  /** A folder was created. */
  | 'FOLDER_CREATED'
  /** A folder was moved to the trash. */
  | 'FOLDER_DELETED'
  /** A folder was moved to another folder. */
  | 'FOLDER_MOVED'
  /** A folder got another name. */
  | 'FOLDER_RENAMED'
  /** A folder was restored from the trash. */
  | 'FOLDER_RESTORED'
  /** A sign-in provider was connected. */
  | 'IDENTITY_ADDED'
  /** A sign-in provider was disconnected. */
  | 'IDENTITY_REMOVED'
  /** An invite was renewed, or offers another role. */
  | 'INVITE_CHANGED'
  /** An invite was sent. */
  | 'INVITE_CREATED'
  /** The person was invited to a workspace. */
  | 'INVITE_RECEIVED'
  /** An invite was declined. */
  | 'INVITE_REJECTED'
  /** An invite was withdrawn. */
  | 'INVITE_REVOKED'
  /** An API key was created. */
  | 'KEY_CREATED'
  /** An API key was deleted. */
  | 'KEY_DELETED'
  /** An operator set single limits of an account or a workspace. */
  | 'LIMITS_CHANGED'
  /** A person became a member of the workspace. */
  | 'MEMBER_JOINED'
  /** A member left the workspace. */
  | 'MEMBER_LEFT'
  /** A member was removed. */
  | 'MEMBER_REMOVED'
  /** A member got another role. */
  | 'MEMBER_ROLE_CHANGED'
  /** A note was removed. */
  | 'NOTE_REMOVED'
  /** A note was written or changed. */
  | 'NOTE_WRITTEN'
  /** The person became an operator. */
  | 'OPERATOR_APPOINTED'
  /** The person is no longer an operator. */
  | 'OPERATOR_DISMISSED'
  /** A passkey was added. */
  | 'PASSKEY_ADDED'
  /** A passkey was removed. */
  | 'PASSKEY_REMOVED'
  /** The password of the account was changed. */
  | 'PASSWORD_CHANGED'
  /** The account got another plan. */
  | 'PLAN_CHANGED'
  /** A session was ended. */
  | 'SESSION_ENDED'
  /** All sessions except one were ended. */
  | 'SESSION_OTHERS_ENDED'
  /** The person signed in. */
  | 'SESSION_STARTED'
  /** The terms of a share were changed. */
  | 'SHARE_CHANGED'
  /** A share was created. */
  | 'SHARE_CREATED'
  /** Somebody shared something with the person. */
  | 'SHARE_RECEIVED'
  /** A share was ended. */
  | 'SHARE_REVOKED'
  /** A sign-in to the account was refused. */
  | 'SIGN_IN_REFUSED'
  /** A tag got another name or colour. */
  | 'TAG_CHANGED'
  /** A tag was created. */
  | 'TAG_CREATED'
  /** A tag was deleted. */
  | 'TAG_DELETED'
  /** An item of the trash was deleted permanently. */
  | 'TRASH_PURGED'
  /** A version was deleted permanently. */
  | 'VERSION_DELETED'
  /** A version became the content of its file again. */
  | 'VERSION_RESTORED'
  /** A webhook was changed, paused or resumed. */
  | 'WEBHOOK_CHANGED'
  /** A webhook was created. */
  | 'WEBHOOK_CREATED'
  /** A webhook was deleted. */
  | 'WEBHOOK_DELETED'
  /** A webhook was disabled, because its deliveries failed. */
  | 'WEBHOOK_DISABLED'
  /** A workspace was created. */
  | 'WORKSPACE_CREATED'
  /** The person became a member of a workspace. */
  | 'WORKSPACE_JOINED'
  /** The person is no longer a member of a workspace. */
  | 'WORKSPACE_LEFT'
  /** A workspace got another name or slug. */
  | 'WORKSPACE_RENAMED';

/** Whether a file request accepts files. FULL: a limit of the request is reached. SUSPENDED: its folder is in the trash, or its maker may not write there now. */
export type FileRequestState =
  /** Its maker has closed it. */
  | 'CLOSED'
  /** Its time is over. */
  | 'EXPIRED'
  /** A limit of the request is reached. */
  | 'FULL'
  /** It accepts files. */
  | 'OPEN'
  /** Its folder is in the trash, or its maker may not write there now. */
  | 'SUSPENDED';

/** Whether a mail was sent. */
export type MailStatus =
  /** The mail could not be queued. */
  | 'FAILED'
  /** No mail was requested, or it is not allowed now. */
  | 'NOT_SENT'
  /** The mail is queued. */
  | 'QUEUED';

/** What markShareSeen takes. */
export type MarkShareSeenInput = {
  /** The share. */
  share: ShareRef;
};

/** What moveEntries takes. */
export type MoveEntriesInput = {
  /** The entries to move: 1 to 1,000 of one drive. */
  entries: Array<EntryRef>;
  /** The expected revision of a single entry; fails with REVISION_MISMATCH if it has another one. */
  expectedRevision?: number | null | undefined;
  /** A new name, for a single entry only. */
  name?: string | null | undefined;
  /** What to do if the name is taken; by default FAIL. REPLACE does not replace folders. */
  onConflict?: OnConflict | null | undefined;
  /** The destination folder; missing folders of a path are created. Without it, they stay in their folders. */
  to?: EntryRef | null | undefined;
};

/** What to do if a name is taken: refuse, choose a free name such as "report (2).pdf", or replace the existing entry. An upload becomes the new content of the existing file, whose old content becomes a version; a move, copy or restore puts the existing entry into the trash. Replacing needs the right to delete. */
export type OnConflict =
  /** Fails with PATH_EXISTS. */
  | 'FAIL'
  /** Chooses a free name. */
  | 'KEEP_BOTH'
  /** Replaces the existing entry. */
  | 'REPLACE';

/** What openShare takes. */
export type OpenShareInput = {
  /** ATTACHMENT by default. */
  disposition?: Disposition | null | undefined;
  /** The password, if the share asks for one. */
  password?: string | null | undefined;
  /** In a shared folder: the path of a file or folder; by default the whole folder. */
  path?: string | null | undefined;
  /** In a shared folder: the paths of several files and folders, as one archive. */
  paths?: Array<string> | null | undefined;
  /** The token of the share. */
  token: string;
};

/** What rejectInvite takes. */
export type RejectInviteInput = {
  /** The token of the invite. */
  token: string;
};

/** What removeFavourites takes. */
export type RemoveFavouritesInput = {
  /** The ids of files and folders. */
  entries?: Array<string | number> | null | undefined;
  /** The ids of received shares. */
  shares?: Array<string | number> | null | undefined;
};

/** What removeMember takes. */
export type RemoveMemberInput = {
  /** The id of the member. */
  member: string | number;
};

/** What restoreFromTrash takes. */
export type RestoreFromTrashInput = {
  /** Ids of 1 to 1,000 items of one trash. */
  items: Array<string | number>;
  /** What to do if the name is taken; by default FAIL. REPLACE needs the right to delete. */
  onConflict?: OnConflict | null | undefined;
  /** The destination folder; missing folders of a path are created. By default each entry returns to its former place. */
  to?: EntryRef | null | undefined;
};

/** What restoreVersion takes. */
export type RestoreVersionInput = {
  /** The expected revision of its file; fails with REVISION_MISMATCH if it has another one. */
  expectedRevision?: number | null | undefined;
  /** The id of the version. */
  version: string | number;
};

/** What revokeInvite takes. */
export type RevokeInviteInput = {
  /** Its id. */
  invite: string | number;
};

/** What revokeShare takes. */
export type RevokeShareInput = {
  /** The share. */
  share: ShareRef;
};

/** The roles of members in a workspace, strongest first. */
export type Role =
  /** May also manage members, invites, keys and webhooks. */
  | 'ADMIN'
  /** May read and change files. */
  | 'EDITOR'
  /** May do everything, and delete the workspace. */
  | 'OWNER'
  /** May read files. */
  | 'VIEWER';

/** What saveSharedEntries takes. */
export type SaveSharedEntriesInput = {
  /** A new name, for a single entry only. */
  name?: string | null | undefined;
  /** What to do if the name is taken; by default FAIL. REPLACE does not replace folders. */
  onConflict?: OnConflict | null | undefined;
  /** The password, if the share asks for one. */
  password?: string | null | undefined;
  /** In a shared folder: up to 1,000 files and folders, by paths that begin there; by default the shared folder itself. */
  paths?: Array<string> | null | undefined;
  /** The destination folder, in any drive; missing folders of a path are created. */
  to: EntryRef;
  /** The token of the share. */
  token: string;
};

/** What an API key may be used for. */
export type Scope =
  /** Delete the own files. */
  | 'PRIVATE_FILES_DELETE'
  /** Read the own files. */
  | 'PRIVATE_FILES_READ'
  /** Share the own files, and see these shares. */
  | 'PRIVATE_FILES_SHARE'
  /** Upload to and change the own files. */
  | 'PRIVATE_FILES_WRITE'
  /** Delete the workspace. */
  | 'WORKSPACES_DELETE'
  /** Delete the files of the workspace. */
  | 'WORKSPACES_FILES_DELETE'
  /** Read the files of the workspace. */
  | 'WORKSPACES_FILES_READ'
  /** Upload to and change the files of the workspace. */
  | 'WORKSPACES_FILES_WRITE'
  /** List, send and revoke invites. */
  | 'WORKSPACES_INVITES_MANAGE'
  /** Change the roles of members, and remove them. */
  | 'WORKSPACES_MEMBERS_MANAGE'
  /** List the members. */
  | 'WORKSPACES_MEMBERS_READ'
  /** Read the workspace itself. */
  | 'WORKSPACES_READ'
  /** Change the workspace itself. */
  | 'WORKSPACES_WRITE';

/** Where words of a search were found. */
export type SearchField =
  /** In the text of the file. */
  | 'CONTENT'
  /** In the name. */
  | 'NAME'
  /** In the caller's note. */
  | 'NOTE'
  /** In the path. */
  | 'PATH'
  /** In a tag. */
  | 'TAG';

/** The order of results. Orders other than RELEVANCE sort only the first 1,000 results. */
export type SearchOrder =
  /** By size, largest first. */
  | 'LARGEST'
  /** By name. */
  | 'NAME'
  /** By their last change, newest first. */
  | 'NEWEST'
  /** By their last change, oldest first. */
  | 'OLDEST'
  /** Best match first, then newest first. */
  | 'RELEVANCE'
  /** By size, smallest first. */
  | 'SMALLEST';

/** Where the name of a sender becomes part of the place of a file. PREFIX: before the name of the file. FOLDER: as a folder. */
export type SenderPlace =
  /** As a folder. */
  | 'FOLDER'
  /** Not at all. */
  | 'NONE'
  /** Before the name of the file. */
  | 'PREFIX';

/** A share. */
export type ShareRef =
  {   /** Its id. */
  id: string | number; token?: never; }
  |  { id?: never;   /** Its token. */
  token: string; };

/** What startUpload takes. */
export type StartUploadInput = {
  /** Its media type. */
  contentType?: string | null | undefined;
  /** Whether to send the parts directly to the blob store, to signed URLs. */
  direct?: boolean | null | undefined;
  /** The id of the drive, or of a share that the caller may edit; by default the caller's own drive. */
  drive?: string | number | null | undefined;
  /** The name of the new file. */
  fileName: string;
  /** Path of the folder; missing folders are created when the upload is completed. */
  folder?: string | null | undefined;
  /** When the file was last modified on its computer; by default, the time of its upload. */
  modifiedAt?: string | null | undefined;
  /** What to do if the name is taken at the end; by default FAIL. */
  onConflict?: OnConflict | null | undefined;
  /** Size of the file in bytes; reserved at once. */
  size: number;
};

/** The colours of tags. */
export type TagColour =
  /** Blue. */
  | 'BLUE'
  /** Green. */
  | 'GREEN'
  /** Grey. */
  | 'GREY'
  /** Orange. */
  | 'ORANGE'
  /** Pink. */
  | 'PINK'
  /** Purple. */
  | 'PURPLE'
  /** Red. */
  | 'RED'
  /** Teal. */
  | 'TEAL'
  /** Yellow. */
  | 'YELLOW';

/** What tagEntries takes. */
export type TagEntriesInput = {
  /** The ids of tags to add. An entry can have up to 20. */
  add?: Array<string | number> | null | undefined;
  /** The entries: 1 to 1,000 of one drive. */
  entries: Array<EntryRef>;
  /** The ids of tags to remove. */
  remove?: Array<string | number> | null | undefined;
};

/** What updateFileRequest takes. */
export type UpdateFileRequestInput = {
  /** Whether senders must give a name. */
  asksName?: boolean | null | undefined;
  /** How long it is open from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never. */
  duration?: string | null | undefined;
  /** The names of up to 150 expected senders, with up to 100 characters each. Senders must then give their name. */
  expected?: Array<string> | null | undefined;
  /** The id of the file request. */
  fileRequest: string | number;
  /** Up to 20 accepted extensions or media types: ".pdf", "image/*", "text/csv". */
  kinds?: Array<string> | null | undefined;
  /** What the request asks for: 1 to 100 characters. */
  label?: string | null | undefined;
  /** Maximum bytes of all files together. */
  maxBytes?: number | null | undefined;
  /** Maximum bytes of one file. */
  maxFileSize?: number | null | undefined;
  /** Maximum number of files, 1 to 1,000,000. */
  maxFiles?: number | null | undefined;
  /** A message to the senders, up to 1,000 characters. */
  message?: string | null | undefined;
  /** Whether you get mails about new files, at most once an hour. */
  notifies?: boolean | null | undefined;
  /** 1 to 128 characters. */
  password?: string | null | undefined;
  /** Where the name of a sender becomes part of the place of a file. With PREFIX and FOLDER, senders must give their name. NONE by default. */
  senderPlace?: SenderPlace | null | undefined;
};

/** What updateShare takes. */
export type UpdateShareInput = {
  /** Whether the files may be downloaded, not only viewed on the page of the share. True by default. */
  allowDownload?: boolean | null | undefined;
  /** How long the share is valid from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never. By default 24h for a new link (LINK_DURATION) and 7d for a new share with a person. */
  duration?: string | null | undefined;
  /** A name for the share that only its sharer sees: up to 100 characters. */
  label?: string | null | undefined;
  /** The maximum number of downloads, 1 to 1,000,000,000. Then the share ends. */
  maxDownloads?: number | null | undefined;
  /** Whether its recipient may edit: in a shared folder, upload, create folders, rename, move, replace and delete; of a shared file, replace the content. Editors may also download, and need no password. False by default. */
  mayEdit?: boolean | null | undefined;
  /** A message on its page and in the mail to the recipient, up to 1,000 characters. */
  message?: string | null | undefined;
  /** Whether its sharer gets mails about its use, at most once an hour. False by default. */
  notifies?: boolean | null | undefined;
  /** 1 to 128 characters. */
  password?: string | null | undefined;
  /** The share. */
  share: ShareRef;
  /** The heading of its page, instead of the name of the shared entry: up to 100 characters. */
  title?: string | null | undefined;
};

/** What updateTag takes. */
export type UpdateTagInput = {
  /** Its new colour. */
  colour?: TagColour | null | undefined;
  /** Its new name: 1 to 50 characters, without a comma. */
  name?: string | null | undefined;
  /** The id of the tag. */
  tag: string | number;
};

/** What updateWorkspace takes. */
export type UpdateWorkspaceInput = {
  /** 1 to 64 characters. By default unchanged. */
  name?: string | null | undefined;
  /** 1 to 48 of a-z, 0-9 and -. By default unchanged. */
  slug?: string | null | undefined;
  /** Its id. */
  workspace: string | number;
};

/** What uploadPart takes. */
export type UploadPartInput = {
  /** MD5 of the part, in base64 (RFC 1864). */
  md5?: string | null | undefined;
  /** From 1 on. */
  number: number;
  /** The bytes of the part. */
  part: File;
  /** The id of the upload. */
  uploadSession: string | number;
};

/** What writeNote takes. */
export type WriteNoteInput = {
  /** Up to 10,000 characters; an empty one removes the note. */
  content: string;
  /** The id of a file with this content in the caller's own drive; or: */
  file?: string | number | null | undefined;
  /** MD5 of the content, in hex. */
  md5?: string | null | undefined;
};

/** What zipEntries takes. */
export type ZipEntriesInput = {
  /** The content of the archive: 1 to 200 entries of one drive, or only its root. */
  entries: Array<EntryRef>;
};

export type QuotaQueryVariables = Exact<{ [key: string]: never; }>;


export type QuotaQuery = { me: { email: string, plan: { name: string }, drive: { usage: { usedBytes: number, fileCount: number, folderCount: number, maxBytes: number, maxFiles: number | null, maxFolders: number | null, maxFileSize: number } } } };

export type WorkspaceQuotaQueryVariables = Exact<{
  workspace: string | number;
}>;


export type WorkspaceQuotaQuery = { workspace: { memberCount: number | null, maxMembers: number | null, apiKeyCount: number | null, maxApiKeys: number | null, drive: { usage: { usedBytes: number, fileCount: number, folderCount: number, maxBytes: number, maxFiles: number | null, maxFolders: number | null, maxFileSize: number } } | null } };

export type WorkspaceDriveQueryVariables = Exact<{
  workspace: string | number;
}>;


export type WorkspaceDriveQuery = { workspace: { drive: { id: string } | null } };

export type ListQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
  path: string;
  after?: string | null | undefined;
}>;


export type ListQuery = { me?: { drive: { entry:
        | { entries: { nodes: Array<
              | { __typename: 'File', id: string, name: string, contentType: string, size: number, md5: string, createdAt: string, modifiedAt: string }
              | { __typename: 'Folder', name: string, size: number, fileCount: number, updatedAt: string }
            >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }
        | Record<PropertyKey, never>
       | null } }, workspace?: { drive: { entry:
        | { entries: { nodes: Array<
              | { __typename: 'File', id: string, name: string, contentType: string, size: number, md5: string, createdAt: string, modifiedAt: string }
              | { __typename: 'Folder', name: string, size: number, fileCount: number, updatedAt: string }
            >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }
        | Record<PropertyKey, never>
       | null } | null } };

export type FindQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
  path: string;
}>;


export type FindQuery = { me?: { drive: { entry:
        | { __typename: 'File', id: string, name: string, contentType: string, size: number, md5: string, createdAt: string, modifiedAt: string }
        | { __typename: 'Folder' }
       | null } }, workspace?: { drive: { entry:
        | { __typename: 'File', id: string, name: string, contentType: string, size: number, md5: string, createdAt: string, modifiedAt: string }
        | { __typename: 'Folder' }
       | null } | null } };

export type SearchQueryVariables = Exact<{
  query: string;
  orderBy?: SearchOrder | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type SearchQuery = { search: { isComplete: boolean, edges: Array<{ matchedIn: Array<SearchField>, snippet: { text: string, ranges: Array<{ start: number, end: number }> } | null, node: { kind: EntryKind, name: string, path: string, size: number, contentType: string | null, updatedAt: string, entry:
          | { id: string, drive: { owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
          | { id: string, drive: { owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
         | null, share: { url: string, entryKind: EntryKind, sharedBy: { email: string } } | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null }, hints: Array<{ term: string, message: string }> } };

export type LinkQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
  path: string;
}>;


export type LinkQuery = { me?: { drive: { entry:
        | { download: { url: string } }
        | Record<PropertyKey, never>
       | null } }, workspace?: { drive: { entry:
        | { download: { url: string } }
        | Record<PropertyKey, never>
       | null } | null } };

export type CapacityQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
}>;


export type CapacityQuery = { me?: { drive: { usage: { usedBytes: number, fileCount: number, folderCount: number, maxBytes: number, maxFiles: number | null, maxFolders: number | null, maxFileSize: number } } }, workspace?: { drive: { usage: { usedBytes: number, fileCount: number, folderCount: number, maxBytes: number, maxFiles: number | null, maxFolders: number | null, maxFileSize: number } } | null } };

export type NoteQueryVariables = Exact<{
  path: string;
}>;


export type NoteQuery = { me: { drive: { entry:
        | { md5: string, note: string | null }
        | Record<PropertyKey, never>
       | null } } };

export type WriteNoteMutationVariables = Exact<{
  input: WriteNoteInput;
}>;


export type WriteNoteMutation = { writeNote: { note: string } };

export type CreateFolderMutationVariables = Exact<{
  input: CreateFolderInput;
}>;


export type CreateFolderMutation = { createFolder: { folder: { id: string } } };

export type MoveMutationVariables = Exact<{
  input: MoveEntriesInput;
}>;


export type MoveMutation = { moveEntries: { entries: Array<
      | { fileCount: number }
      | Record<PropertyKey, never>
    > | null } };

export type CopyMutationVariables = Exact<{
  input: CopyEntriesInput;
}>;


export type CopyMutation = { copyEntries: { entries: Array<
      | { path: string }
      | { path: string }
    > | null, copy: { id: string, state: BackgroundCopyState, entryCount: number, copiedCount: number, failure: { code: ErrorCode, message: string } | null, entries: Array<
        | { path: string }
        | { path: string }
      > | null } | null } };

export type SaveSharedMutationVariables = Exact<{
  input: SaveSharedEntriesInput;
}>;


export type SaveSharedMutation = { saveSharedEntries: { entries: Array<
      | { path: string }
      | { path: string }
    > | null, copy: { id: string, state: BackgroundCopyState, entryCount: number, copiedCount: number, failure: { code: ErrorCode, message: string } | null, entries: Array<
        | { path: string }
        | { path: string }
      > | null } | null } };

export type CopyStateQueryVariables = Exact<{
  id: string | number;
}>;


export type CopyStateQuery = { node:
    | { id: string, state: BackgroundCopyState, entryCount: number, copiedCount: number, failure: { code: ErrorCode, message: string } | null, entries: Array<
        | { path: string }
        | { path: string }
      > | null }
    | Record<PropertyKey, never>
   | null };

export type CopyRowFragment = { id: string, state: BackgroundCopyState, entryCount: number, copiedCount: number, failure: { code: ErrorCode, message: string } | null, entries: Array<
    | { path: string }
    | { path: string }
  > | null };

export type DeleteMutationVariables = Exact<{
  input: DeleteEntriesInput;
}>;


export type DeleteMutation = { deleteEntries: { filesDeleted: number, trashItems: Array<{ id: string }> | null } };

export type TrashQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
  after?: string | null | undefined;
}>;


export type TrashQuery = { me?: { drive: { trash: { nodes: Array<{ id: string, path: string, kind: EntryKind, size: number, fileCount: number | null, deletedAt: string, expiresAt: string, deletedBy: { email: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } }, workspace?: { drive: { trash: { nodes: Array<{ id: string, path: string, kind: EntryKind, size: number, fileCount: number | null, deletedAt: string, expiresAt: string, deletedBy: { email: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } };

export type RestoreFromTrashMutationVariables = Exact<{
  input: RestoreFromTrashInput;
}>;


export type RestoreFromTrashMutation = { restoreFromTrash: { entries: Array<
      | { path: string }
      | { path: string }
    > } };

export type DeleteFromTrashMutationVariables = Exact<{
  input: DeleteFromTrashInput;
}>;


export type DeleteFromTrashMutation = { deleteFromTrash: { deletedIds: Array<string> } };

export type EmptyTrashMutationVariables = Exact<{
  input: EmptyTrashInput;
}>;


export type EmptyTrashMutation = { emptyTrash: { count: number } };

export type VersionsQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
  path: string;
  after?: string | null | undefined;
}>;


export type VersionsQuery = { me?: { drive: { entry:
        | { versions: { nodes: Array<{ id: string, size: number, md5: string, createdAt: string, modifiedAt: string, replacedAt: string, expiresAt: string, createdBy: { email: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null }
        | Record<PropertyKey, never>
       | null } }, workspace?: { drive: { entry:
        | { versions: { nodes: Array<{ id: string, size: number, md5: string, createdAt: string, modifiedAt: string, replacedAt: string, expiresAt: string, createdBy: { email: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null }
        | Record<PropertyKey, never>
       | null } | null } };

export type VersionQueryVariables = Exact<{
  id: string | number;
}>;


export type VersionQuery = { node:
    | { size: number, md5: string, modifiedAt: string, file: { name: string, path: string }, download: { url: string } }
    | Record<PropertyKey, never>
   | null };

export type RestoreVersionMutationVariables = Exact<{
  input: RestoreVersionInput;
}>;


export type RestoreVersionMutation = { restoreVersion: { file: { path: string } } };

export type DeleteVersionMutationVariables = Exact<{
  input: DeleteVersionInput;
}>;


export type DeleteVersionMutation = { deleteVersion: { deletedId: string } };

export type SyncRootQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
  path: string;
}>;


export type SyncRootQuery = { me?: { drive: { entry:
        | { __typename: 'File', id: string }
        | { __typename: 'Folder', id: string }
       | null } }, workspace?: { drive: { entry:
        | { __typename: 'File', id: string }
        | { __typename: 'Folder', id: string }
       | null } | null } };

export type SyncLevelQueryVariables = Exact<{
  folder: string | number;
  after?: string | null | undefined;
}>;


export type SyncLevelQuery = { node:
    | { entries: { nodes: Array<
          | { __typename: 'File', size: number, md5: string, id: string, name: string, revision: number, updatedAt: string }
          | { __typename: 'Folder', id: string, name: string, revision: number, updatedAt: string }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }
    | Record<PropertyKey, never>
   | null };

export type SyncEntriesQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type SyncEntriesQuery = { nodes: Array<
    | { __typename: 'Account' }
    | { __typename: 'ApiKey' }
    | { __typename: 'BackgroundCopy' }
    | { __typename: 'DirectShare' }
    | { __typename: 'Drive' }
    | { __typename: 'Event' }
    | { __typename: 'Favourite' }
    | { __typename: 'File', size: number, md5: string, id: string, name: string, revision: number, updatedAt: string, parent: { id: string } | null }
    | { __typename: 'FileRequest' }
    | { __typename: 'Folder', id: string, name: string, revision: number, updatedAt: string, parent: { id: string } | null }
    | { __typename: 'Identity' }
    | { __typename: 'Invite' }
    | { __typename: 'LinkShare' }
    | { __typename: 'Member' }
    | { __typename: 'Person' }
    | { __typename: 'Session' }
    | { __typename: 'Tag' }
    | { __typename: 'TrashItem' }
    | { __typename: 'UploadSession' }
    | { __typename: 'Version' }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'Workspace' }
   | null> };

export type SyncEventsSubscriptionVariables = Exact<{
  drive?: string | number | null | undefined;
}>;


export type SyncEventsSubscription = { driveEvents: { cursor: string } };

export type SyncLinkQueryVariables = Exact<{
  id: string | number;
}>;


export type SyncLinkQuery = { node:
    | { md5: string, modifiedAt: string, download: { url: string } }
    | Record<PropertyKey, never>
   | null };

export type SendPartMutationVariables = Exact<{
  input: UploadPartInput;
}>;


export type SendPartMutation = { uploadPart: { crc32: string } };

export type StartUploadMutationVariables = Exact<{
  input: StartUploadInput;
}>;


export type StartUploadMutation = { startUpload: { uploadSession: { id: string, chunkSize: number, partCount: number, expiresAt: string } } };

export type UploadQueryVariables = Exact<{
  id: string | number;
}>;


export type UploadQuery = { node:
    | { received: Array<number> }
    | Record<PropertyKey, never>
   | null };

export type UploadOutcomeFragment = { completion: { checked: number, md5: string | null, state: CompletionState, failure: { code: ErrorCode, message: string, missing: Array<number> | null } | null, file: { name: string } | null } | null };

export type BeginCompletionMutationVariables = Exact<{
  input: BeginCompletionInput;
}>;


export type BeginCompletionMutation = { beginCompletion: { uploadSession: { completion: { checked: number, md5: string | null, state: CompletionState, failure: { code: ErrorCode, message: string, missing: Array<number> | null } | null, file: { name: string } | null } | null } } };

export type UploadOutcomeQueryVariables = Exact<{
  id: string | number;
}>;


export type UploadOutcomeQuery = { node:
    | { completion: { checked: number, md5: string | null, state: CompletionState, failure: { code: ErrorCode, message: string, missing: Array<number> | null } | null, file: { name: string } | null } | null }
    | Record<PropertyKey, never>
   | null };

export type AbortUploadMutationVariables = Exact<{
  input: AbortUploadInput;
}>;


export type AbortUploadMutation = { abortUpload: { abortedId: string } };

export type ShareMutationVariables = Exact<{
  input: CreateDirectShareInput;
}>;


export type ShareMutation = { createDirectShare: { mail: MailStatus, shares: Array<{ fileName: string, recipient: string, token: string, url: string, expiresAt: string | null }> } };

export type QuickShareMutationVariables = Exact<{
  input: CreateLinkInput;
}>;


export type QuickShareMutation = { createLink: { share: { token: string, url: string, expiresAt: string | null } } };

export type SharesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type SharesQuery = { me: { shares: { nodes: Array<
        | { recipient: string, seen: boolean, mayEdit: boolean, id: string, token: string, url: string, fileName: string, entryCount: number, contentType: string, size: number, md5: string, createdAt: string, expiresAt: string | null, passwordProtected: boolean, downloads: number, maxDownloads: number | null, label: string, allowDownload: boolean, entry:
            | { path: string, drive: { id: string, owner:
                  | { slug: string }
                  | Record<PropertyKey, never>
                 } }
            | { path: string, drive: { id: string, owner:
                  | { slug: string }
                  | Record<PropertyKey, never>
                 } }
           | null, sharedBy: { email: string } }
        | { id: string, token: string, url: string, fileName: string, entryCount: number, contentType: string, size: number, md5: string, createdAt: string, expiresAt: string | null, passwordProtected: boolean, downloads: number, maxDownloads: number | null, label: string, allowDownload: boolean, entry:
            | { path: string, drive: { id: string, owner:
                  | { slug: string }
                  | Record<PropertyKey, never>
                 } }
            | { path: string, drive: { id: string, owner:
                  | { slug: string }
                  | Record<PropertyKey, never>
                 } }
           | null, sharedBy: { email: string } }
      >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } };

export type ReceivedQueryVariables = Exact<{
  seen?: boolean | null | undefined;
  after?: string | null | undefined;
}>;


export type ReceivedQuery = { me: { receivedShares: { nodes: Array<{ recipient: string, seen: boolean, mayEdit: boolean, id: string, token: string, url: string, fileName: string, entryCount: number, contentType: string, size: number, md5: string, createdAt: string, expiresAt: string | null, passwordProtected: boolean, downloads: number, maxDownloads: number | null, label: string, allowDownload: boolean, sharedBy: { email: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } };

export type MarkSeenMutationVariables = Exact<{
  input: MarkShareSeenInput;
}>;


export type MarkSeenMutation = { markShareSeen: { seenId: string } };

export type UpdateShareMutationVariables = Exact<{
  input: UpdateShareInput;
}>;


export type UpdateShareMutation = { updateShare: { share:
      | { recipient: string, seen: boolean, mayEdit: boolean, id: string, token: string, url: string, fileName: string, entryCount: number, contentType: string, size: number, md5: string, createdAt: string, expiresAt: string | null, passwordProtected: boolean, downloads: number, maxDownloads: number | null, label: string, allowDownload: boolean, entry:
          | { path: string, drive: { id: string, owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
          | { path: string, drive: { id: string, owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
         | null, sharedBy: { email: string } }
      | { id: string, token: string, url: string, fileName: string, entryCount: number, contentType: string, size: number, md5: string, createdAt: string, expiresAt: string | null, passwordProtected: boolean, downloads: number, maxDownloads: number | null, label: string, allowDownload: boolean, entry:
          | { path: string, drive: { id: string, owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
          | { path: string, drive: { id: string, owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
         | null, sharedBy: { email: string } }
     } };

export type RevokeMutationVariables = Exact<{
  input: RevokeShareInput;
}>;


export type RevokeMutation = { revokeShare: { revokedId: string } };

export type SharedLineFragment = { kind: EntryKind, name: string, path: string, size: number, contentType: string | null, md5: string | null, modifiedAt: string | null, updatedAt: string };

export type SharedListQueryVariables = Exact<{
  token: string;
  path: string;
  query?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type SharedListQuery = { sharedFolder: { endCursor: string | null, entries: Array<{ kind: EntryKind, name: string, path: string, size: number, contentType: string | null, md5: string | null, modifiedAt: string | null, updatedAt: string }> } };

export type ShareInfoQueryVariables = Exact<{
  token: string;
}>;


export type ShareInfoQuery = { share: { entryKind: EntryKind, fileName: string, size: number, passwordProtected: boolean } };

export type OpenShareMutationVariables = Exact<{
  input: OpenShareInput;
}>;


export type OpenShareMutation = { openShare: { download: { url: string, fileName: string, size: number, etag: string } } };

export type ZipEntriesMutationVariables = Exact<{
  input: ZipEntriesInput;
}>;


export type ZipEntriesMutation = { zipEntries: { download: { url: string, fileName: string, size: number, etag: string } } };

export type BytesFragment = { url: string, fileName: string, size: number, etag: string };

export type WorkspacesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type WorkspacesQuery = { me: { workspaces: { nodes: Array<{ id: string, name: string, slug: string, role: Role, createdAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } };

export type WorkspaceQueryVariables = Exact<{
  id?: string | number | null | undefined;
  slug?: string | null | undefined;
}>;


export type WorkspaceQuery = { workspace: { id: string, name: string, slug: string, role: Role, createdAt: string } };

export type WorkspaceIdQueryVariables = Exact<{
  slug: string;
}>;


export type WorkspaceIdQuery = { workspace: { id: string } };

export type CreateWorkspaceMutationVariables = Exact<{
  input: CreateWorkspaceInput;
}>;


export type CreateWorkspaceMutation = { createWorkspace: { workspace: { id: string, name: string, slug: string, role: Role, createdAt: string } } };

export type UpdateWorkspaceMutationVariables = Exact<{
  input: UpdateWorkspaceInput;
}>;


export type UpdateWorkspaceMutation = { updateWorkspace: { workspace: { id: string, name: string, slug: string, role: Role, createdAt: string } } };

export type DeleteWorkspaceMutationVariables = Exact<{
  input: DeleteWorkspaceInput;
}>;


export type DeleteWorkspaceMutation = { deleteWorkspace: { deletedId: string } };

export type MembersQueryVariables = Exact<{
  workspace: string | number;
  after?: string | null | undefined;
}>;


export type MembersQuery = { workspace: { members: { nodes: Array<{ id: string, role: Role, joinedAt: string, person: { id: string, email: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } };

export type ChangeRoleMutationVariables = Exact<{
  input: ChangeMemberRoleInput;
}>;


export type ChangeRoleMutation = { changeMemberRole: { member: { id: string } | null } };

export type RemoveMemberMutationVariables = Exact<{
  input: RemoveMemberInput;
}>;


export type RemoveMemberMutation = { removeMember: { removedId: string } };

export type InviteMutationVariables = Exact<{
  input: CreateInviteInput;
}>;


export type InviteMutation = { createInvite: { invite: { id: string, email: string, role: Role, createdAt: string, expiresAt: string } } };

export type WorkspaceInvitesQueryVariables = Exact<{
  workspace: string | number;
  after?: string | null | undefined;
}>;


export type WorkspaceInvitesQuery = { workspace: { invites: { nodes: Array<{ id: string, email: string, role: Role, createdAt: string, expiresAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } };

export type RevokeInviteMutationVariables = Exact<{
  input: RevokeInviteInput;
}>;


export type RevokeInviteMutation = { revokeInvite: { revokedId: string } };

export type MyInvitesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type MyInvitesQuery = { me: { invites: { nodes: Array<{ id: string, workspaceId: string, workspaceName: string, workspaceSlug: string, role: Role, token: string | null, expiresAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } };

export type AcceptInviteMutationVariables = Exact<{
  input: AcceptInviteInput;
}>;


export type AcceptInviteMutation = { acceptInvite: { workspace: { id: string, name: string, slug: string, role: Role, createdAt: string } } };

export type RejectInviteMutationVariables = Exact<{
  input: RejectInviteInput;
}>;


export type RejectInviteMutation = { rejectInvite: { rejectedId: string | null } };

export type KeysQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type KeysQuery = { me: { apiKeys: { nodes: Array<{ id: string, name: string, description: string, status: ApiKeyStatus, scopes: Array<Scope>, createdAt: string, lastUsedAt: string | null, expiresAt: string | null, hint: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } };

export type WorkspaceKeysQueryVariables = Exact<{
  workspace: string | number;
  after?: string | null | undefined;
}>;


export type WorkspaceKeysQuery = { workspace: { apiKeys: { nodes: Array<{ id: string, name: string, description: string, status: ApiKeyStatus, scopes: Array<Scope>, createdAt: string, lastUsedAt: string | null, expiresAt: string | null, hint: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } };

export type CreateKeyMutationVariables = Exact<{
  input: CreateApiKeyInput;
}>;


export type CreateKeyMutation = { createApiKey: { secret: string, apiKey: { id: string, name: string, scopes: Array<Scope>, expiresAt: string | null } } };

export type DeleteKeyMutationVariables = Exact<{
  input: DeleteApiKeyInput;
}>;


export type DeleteKeyMutation = { deleteApiKey: { deletedId: string } };

export type LevelFragment = { entry:
    | { entries: { nodes: Array<
          | { __typename: 'File', id: string, name: string, contentType: string, size: number, md5: string, createdAt: string, modifiedAt: string }
          | { __typename: 'Folder', name: string, size: number, fileCount: number, updatedAt: string }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }
    | Record<PropertyKey, never>
   | null };

export type AtFragment = { entry:
    | { __typename: 'File', id: string, name: string, contentType: string, size: number, md5: string, createdAt: string, modifiedAt: string }
    | { __typename: 'Folder' }
   | null };

export type SyncRootFragment = { entry:
    | { __typename: 'File', id: string }
    | { __typename: 'Folder', id: string }
   | null };

type SyncEntry_File_Fragment = { __typename: 'File', size: number, md5: string, id: string, name: string, revision: number, updatedAt: string };

type SyncEntry_Folder_Fragment = { __typename: 'Folder', id: string, name: string, revision: number, updatedAt: string };

export type SyncEntryFragment =
  | SyncEntry_File_Fragment
  | SyncEntry_Folder_Fragment
;

export type DownloadableFragment = { entry:
    | { download: { url: string } }
    | Record<PropertyKey, never>
   | null };

export type TrashFragment = { trash: { nodes: Array<{ id: string, path: string, kind: EntryKind, size: number, fileCount: number | null, deletedAt: string, expiresAt: string, deletedBy: { email: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type VersionsFragment = { entry:
    | { versions: { nodes: Array<{ id: string, size: number, md5: string, createdAt: string, modifiedAt: string, replacedAt: string, expiresAt: string, createdBy: { email: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null }
    | Record<PropertyKey, never>
   | null };

export type VersionRowFragment = { id: string, size: number, md5: string, createdAt: string, modifiedAt: string, replacedAt: string, expiresAt: string, createdBy: { email: string } | null };

export type CapacityFragment = { usage: { usedBytes: number, fileCount: number, folderCount: number, maxBytes: number, maxFiles: number | null, maxFolders: number | null, maxFileSize: number } };

export type UsageRowFragment = { usedBytes: number, fileCount: number, folderCount: number, maxBytes: number, maxFiles: number | null, maxFolders: number | null, maxFileSize: number };

export type FileRowFragment = { id: string, name: string, contentType: string, size: number, md5: string, createdAt: string, modifiedAt: string };

export type TrashRowFragment = { id: string, path: string, kind: EntryKind, size: number, fileCount: number | null, deletedAt: string, expiresAt: string, deletedBy: { email: string } | null };

type SharedEntry_File_Fragment = { path: string, drive: { id: string, owner:
      | { slug: string }
      | Record<PropertyKey, never>
     } };

type SharedEntry_Folder_Fragment = { path: string, drive: { id: string, owner:
      | { slug: string }
      | Record<PropertyKey, never>
     } };

export type SharedEntryFragment =
  | SharedEntry_File_Fragment
  | SharedEntry_Folder_Fragment
;

type ShareRow_DirectShare_Fragment = { recipient: string, seen: boolean, mayEdit: boolean, id: string, token: string, url: string, fileName: string, entryCount: number, contentType: string, size: number, md5: string, createdAt: string, expiresAt: string | null, passwordProtected: boolean, downloads: number, maxDownloads: number | null, label: string, allowDownload: boolean, sharedBy: { email: string } };

type ShareRow_LinkShare_Fragment = { id: string, token: string, url: string, fileName: string, entryCount: number, contentType: string, size: number, md5: string, createdAt: string, expiresAt: string | null, passwordProtected: boolean, downloads: number, maxDownloads: number | null, label: string, allowDownload: boolean, sharedBy: { email: string } };

export type ShareRowFragment =
  | ShareRow_DirectShare_Fragment
  | ShareRow_LinkShare_Fragment
;

export type WorkspaceRowFragment = { id: string, name: string, slug: string, role: Role, createdAt: string };

export type InviteRowFragment = { id: string, email: string, role: Role, createdAt: string, expiresAt: string };

export type KeyRowFragment = { id: string, name: string, description: string, status: ApiKeyStatus, scopes: Array<Scope>, createdAt: string, lastUsedAt: string | null, expiresAt: string | null, hint: string };

export type NextFragment = { hasNextPage: boolean, endCursor: string | null };

export type CreateFileRequestMutationVariables = Exact<{
  input: CreateFileRequestInput;
}>;


export type CreateFileRequestMutation = { createFileRequest: { fileRequest: { id: string, token: string, url: string, label: string, path: string | null, state: FileRequestState, fileCount: number, size: number, maxFiles: number | null, maxFileSize: number | null, maxBytes: number | null, passwordProtected: boolean, createdAt: string, expiresAt: string | null } } };

export type UpdateFileRequestMutationVariables = Exact<{
  input: UpdateFileRequestInput;
}>;


export type UpdateFileRequestMutation = { updateFileRequest: { fileRequest: { id: string, token: string, url: string, label: string, path: string | null, state: FileRequestState, fileCount: number, size: number, maxFiles: number | null, maxFileSize: number | null, maxBytes: number | null, passwordProtected: boolean, createdAt: string, expiresAt: string | null } } };

export type FileRequestsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type FileRequestsQuery = { me: { fileRequests: { nodes: Array<{ id: string, token: string, url: string, label: string, path: string | null, state: FileRequestState, fileCount: number, size: number, maxFiles: number | null, maxFileSize: number | null, maxBytes: number | null, passwordProtected: boolean, createdAt: string, expiresAt: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } };

export type CloseFileRequestMutationVariables = Exact<{
  input: CloseFileRequestInput;
}>;


export type CloseFileRequestMutation = { closeFileRequest: { fileRequest: { id: string } } };

export type FileRequestRowFragment = { id: string, token: string, url: string, label: string, path: string | null, state: FileRequestState, fileCount: number, size: number, maxFiles: number | null, maxFileSize: number | null, maxBytes: number | null, passwordProtected: boolean, createdAt: string, expiresAt: string | null };

export type TagsQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
}>;


export type TagsQuery = { me?: { drive: { id: string, tags: Array<{ id: string, name: string, colour: TagColour, entryCount: number }> } }, workspace?: { drive: { id: string, tags: Array<{ id: string, name: string, colour: TagColour, entryCount: number }> } | null } };

export type TaggedEntriesQueryVariables = Exact<{
  tag: string | number;
  after?: string | null | undefined;
}>;


export type TaggedEntriesQuery = { node:
    | { entries: { nodes: Array<
          | { __typename: 'File', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
          | { __typename: 'Folder', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }
    | Record<PropertyKey, never>
   | null };

export type CreateTagMutationVariables = Exact<{
  input: CreateTagInput;
}>;


export type CreateTagMutation = { createTag: { tag: { id: string, name: string, colour: TagColour, entryCount: number } } };

export type UpdateTagMutationVariables = Exact<{
  input: UpdateTagInput;
}>;


export type UpdateTagMutation = { updateTag: { tag: { id: string, name: string, colour: TagColour, entryCount: number } } };

export type DeleteTagMutationVariables = Exact<{
  input: DeleteTagInput;
}>;


export type DeleteTagMutation = { deleteTag: { deletedId: string } };

export type TagEntriesMutationVariables = Exact<{
  input: TagEntriesInput;
}>;


export type TagEntriesMutation = { tagEntries: { entries: Array<
      | { __typename: 'File', path: string, tags: Array<{ name: string }> }
      | { __typename: 'Folder', path: string, tags: Array<{ name: string }> }
    > | null } };

export type EntryIdQueryVariables = Exact<{
  own: boolean;
  workspace?: string | number | null | undefined;
  path: string;
}>;


export type EntryIdQuery = { me?: { drive: { entry:
        | { __typename: 'File', id: string }
        | { __typename: 'Folder', id: string }
       | null } }, workspace?: { drive: { entry:
        | { __typename: 'File', id: string }
        | { __typename: 'Folder', id: string }
       | null } | null } };

export type AddFavouritesMutationVariables = Exact<{
  input: AddFavouritesInput;
}>;


export type AddFavouritesMutation = { addFavourites: { entries: Array<
      | { __typename: 'File', id: string }
      | { __typename: 'Folder', id: string }
    > | null } };

export type RemoveFavouritesMutationVariables = Exact<{
  input: RemoveFavouritesInput;
}>;


export type RemoveFavouritesMutation = { removeFavourites: { entries: Array<
      | { __typename: 'File', id: string }
      | { __typename: 'Folder', id: string }
    > | null } };

export type FavouritesQueryVariables = Exact<{ [key: string]: never; }>;


export type FavouritesQuery = { me: { favourites: Array<{ id: string, name: string, createdAt: string, entry:
        | { __typename: 'File', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
              | { slug: string }
              | Record<PropertyKey, never>
             } }
        | { __typename: 'Folder', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
              | { slug: string }
              | Record<PropertyKey, never>
             } }
       | null, share: { url: string, sharedBy: { email: string } } | null }> } };

export type RecentQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type RecentQuery = { me: { recent: { nodes: Array<{ kind: EventKind, happenedAt: string, entry:
          | { __typename: 'File', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
          | { __typename: 'Folder', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
                | { slug: string }
                | Record<PropertyKey, never>
               } }
         }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } };

export type DriveTagsFragment = { id: string, tags: Array<{ id: string, name: string, colour: TagColour, entryCount: number }> };

export type TagRowFragment = { id: string, name: string, colour: TagColour, entryCount: number };

export type EntryIdAtFragment = { entry:
    | { __typename: 'File', id: string }
    | { __typename: 'Folder', id: string }
   | null };

type PlacedEntry_File_Fragment = { __typename: 'File', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
      | { slug: string }
      | Record<PropertyKey, never>
     } };

type PlacedEntry_Folder_Fragment = { __typename: 'Folder', id: string, name: string, path: string, size: number, updatedAt: string, drive: { owner:
      | { slug: string }
      | Record<PropertyKey, never>
     } };

export type PlacedEntryFragment =
  | PlacedEntry_File_Fragment
  | PlacedEntry_Folder_Fragment
;

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const CopyRowFragmentDoc = new TypedDocumentString(`
    fragment CopyRow on BackgroundCopy {
  id
  state
  entryCount
  copiedCount
  failure {
    code
    message
  }
  entries {
    path
  }
}
    `, {"fragmentName":"CopyRow"}) as unknown as TypedDocumentString<CopyRowFragment, unknown>;
export const UploadOutcomeFragmentDoc = new TypedDocumentString(`
    fragment UploadOutcome on UploadSession {
  completion {
    checked
    failure {
      code
      message
      missing
    }
    file {
      name
    }
    md5
    state
  }
}
    `, {"fragmentName":"UploadOutcome"}) as unknown as TypedDocumentString<UploadOutcomeFragment, unknown>;
export const SharedLineFragmentDoc = new TypedDocumentString(`
    fragment SharedLine on SharedEntry {
  kind
  name
  path
  size
  contentType
  md5
  modifiedAt
  updatedAt
}
    `, {"fragmentName":"SharedLine"}) as unknown as TypedDocumentString<SharedLineFragment, unknown>;
export const BytesFragmentDoc = new TypedDocumentString(`
    fragment Bytes on Download {
  url
  fileName
  size
  etag
}
    `, {"fragmentName":"Bytes"}) as unknown as TypedDocumentString<BytesFragment, unknown>;
export const FileRowFragmentDoc = new TypedDocumentString(`
    fragment FileRow on File {
  id
  name
  contentType
  size
  md5
  createdAt
  modifiedAt
}
    `, {"fragmentName":"FileRow"}) as unknown as TypedDocumentString<FileRowFragment, unknown>;
export const NextFragmentDoc = new TypedDocumentString(`
    fragment Next on PageInfo {
  hasNextPage
  endCursor
}
    `, {"fragmentName":"Next"}) as unknown as TypedDocumentString<NextFragment, unknown>;
export const LevelFragmentDoc = new TypedDocumentString(`
    fragment Level on Drive {
  entry(path: $path) {
    ... on Folder {
      entries(first: 1000, after: $after) {
        nodes {
          __typename
          ... on Folder {
            name
            size
            fileCount
            updatedAt
          }
          ...FileRow
        }
        pageInfo {
          ...Next
        }
      }
    }
  }
}
    fragment FileRow on File {
  id
  name
  contentType
  size
  md5
  createdAt
  modifiedAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`, {"fragmentName":"Level"}) as unknown as TypedDocumentString<LevelFragment, unknown>;
export const AtFragmentDoc = new TypedDocumentString(`
    fragment At on Drive {
  entry(path: $path) {
    __typename
    ...FileRow
  }
}
    fragment FileRow on File {
  id
  name
  contentType
  size
  md5
  createdAt
  modifiedAt
}`, {"fragmentName":"At"}) as unknown as TypedDocumentString<AtFragment, unknown>;
export const SyncRootFragmentDoc = new TypedDocumentString(`
    fragment SyncRoot on Drive {
  entry(path: $path) {
    __typename
    id
  }
}
    `, {"fragmentName":"SyncRoot"}) as unknown as TypedDocumentString<SyncRootFragment, unknown>;
export const SyncEntryFragmentDoc = new TypedDocumentString(`
    fragment SyncEntry on Entry {
  __typename
  id
  name
  revision
  updatedAt
  ... on File {
    size
    md5
  }
}
    `, {"fragmentName":"SyncEntry"}) as unknown as TypedDocumentString<SyncEntryFragment, unknown>;
export const DownloadableFragmentDoc = new TypedDocumentString(`
    fragment Downloadable on Drive {
  entry(path: $path) {
    ... on File {
      download {
        url
      }
    }
  }
}
    `, {"fragmentName":"Downloadable"}) as unknown as TypedDocumentString<DownloadableFragment, unknown>;
export const TrashRowFragmentDoc = new TypedDocumentString(`
    fragment TrashRow on TrashItem {
  id
  path
  kind
  size
  fileCount
  deletedAt
  deletedBy {
    email
  }
  expiresAt
}
    `, {"fragmentName":"TrashRow"}) as unknown as TypedDocumentString<TrashRowFragment, unknown>;
export const TrashFragmentDoc = new TypedDocumentString(`
    fragment Trash on Drive {
  trash(first: 1000, after: $after) {
    nodes {
      ...TrashRow
    }
    pageInfo {
      ...Next
    }
  }
}
    fragment TrashRow on TrashItem {
  id
  path
  kind
  size
  fileCount
  deletedAt
  deletedBy {
    email
  }
  expiresAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`, {"fragmentName":"Trash"}) as unknown as TypedDocumentString<TrashFragment, unknown>;
export const VersionRowFragmentDoc = new TypedDocumentString(`
    fragment VersionRow on Version {
  id
  size
  md5
  createdAt
  modifiedAt
  createdBy {
    email
  }
  replacedAt
  expiresAt
}
    `, {"fragmentName":"VersionRow"}) as unknown as TypedDocumentString<VersionRowFragment, unknown>;
export const VersionsFragmentDoc = new TypedDocumentString(`
    fragment Versions on Drive {
  entry(path: $path) {
    ... on File {
      versions(first: 1000, after: $after) {
        nodes {
          ...VersionRow
        }
        pageInfo {
          ...Next
        }
      }
    }
  }
}
    fragment VersionRow on Version {
  id
  size
  md5
  createdAt
  modifiedAt
  createdBy {
    email
  }
  replacedAt
  expiresAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`, {"fragmentName":"Versions"}) as unknown as TypedDocumentString<VersionsFragment, unknown>;
export const UsageRowFragmentDoc = new TypedDocumentString(`
    fragment UsageRow on DriveUsage {
  usedBytes
  fileCount
  folderCount
  maxBytes
  maxFiles
  maxFolders
  maxFileSize
}
    `, {"fragmentName":"UsageRow"}) as unknown as TypedDocumentString<UsageRowFragment, unknown>;
export const CapacityFragmentDoc = new TypedDocumentString(`
    fragment Capacity on Drive {
  usage {
    ...UsageRow
  }
}
    fragment UsageRow on DriveUsage {
  usedBytes
  fileCount
  folderCount
  maxBytes
  maxFiles
  maxFolders
  maxFileSize
}`, {"fragmentName":"Capacity"}) as unknown as TypedDocumentString<CapacityFragment, unknown>;
export const SharedEntryFragmentDoc = new TypedDocumentString(`
    fragment SharedEntry on Entry {
  path
  drive {
    id
    owner {
      ... on Workspace {
        slug
      }
    }
  }
}
    `, {"fragmentName":"SharedEntry"}) as unknown as TypedDocumentString<SharedEntryFragment, unknown>;
export const ShareRowFragmentDoc = new TypedDocumentString(`
    fragment ShareRow on Share {
  id
  token
  url
  fileName
  entryCount
  contentType
  size
  md5
  createdAt
  expiresAt
  passwordProtected
  downloads
  maxDownloads
  label
  allowDownload
  sharedBy {
    email
  }
  ... on DirectShare {
    recipient
    seen
    mayEdit
  }
}
    `, {"fragmentName":"ShareRow"}) as unknown as TypedDocumentString<ShareRowFragment, unknown>;
export const WorkspaceRowFragmentDoc = new TypedDocumentString(`
    fragment WorkspaceRow on Workspace {
  id
  name
  slug
  role
  createdAt
}
    `, {"fragmentName":"WorkspaceRow"}) as unknown as TypedDocumentString<WorkspaceRowFragment, unknown>;
export const InviteRowFragmentDoc = new TypedDocumentString(`
    fragment InviteRow on Invite {
  id
  email
  role
  createdAt
  expiresAt
}
    `, {"fragmentName":"InviteRow"}) as unknown as TypedDocumentString<InviteRowFragment, unknown>;
export const KeyRowFragmentDoc = new TypedDocumentString(`
    fragment KeyRow on ApiKey {
  id
  name
  description
  status
  scopes
  createdAt
  lastUsedAt
  expiresAt
  hint
}
    `, {"fragmentName":"KeyRow"}) as unknown as TypedDocumentString<KeyRowFragment, unknown>;
export const FileRequestRowFragmentDoc = new TypedDocumentString(`
    fragment FileRequestRow on FileRequest {
  id
  token
  url
  label
  path
  state
  fileCount
  size
  maxFiles
  maxFileSize
  maxBytes
  passwordProtected
  createdAt
  expiresAt
}
    `, {"fragmentName":"FileRequestRow"}) as unknown as TypedDocumentString<FileRequestRowFragment, unknown>;
export const TagRowFragmentDoc = new TypedDocumentString(`
    fragment TagRow on Tag {
  id
  name
  colour
  entryCount
}
    `, {"fragmentName":"TagRow"}) as unknown as TypedDocumentString<TagRowFragment, unknown>;
export const DriveTagsFragmentDoc = new TypedDocumentString(`
    fragment DriveTags on Drive {
  id
  tags {
    ...TagRow
  }
}
    fragment TagRow on Tag {
  id
  name
  colour
  entryCount
}`, {"fragmentName":"DriveTags"}) as unknown as TypedDocumentString<DriveTagsFragment, unknown>;
export const EntryIdAtFragmentDoc = new TypedDocumentString(`
    fragment EntryIdAt on Drive {
  entry(path: $path) {
    __typename
    id
  }
}
    `, {"fragmentName":"EntryIdAt"}) as unknown as TypedDocumentString<EntryIdAtFragment, unknown>;
export const PlacedEntryFragmentDoc = new TypedDocumentString(`
    fragment PlacedEntry on Entry {
  __typename
  id
  name
  path
  size
  updatedAt
  drive {
    owner {
      ... on Workspace {
        slug
      }
    }
  }
}
    `, {"fragmentName":"PlacedEntry"}) as unknown as TypedDocumentString<PlacedEntryFragment, unknown>;
export const QuotaDocument = new TypedDocumentString(`
    query Quota {
  me {
    email
    plan {
      name
    }
    drive {
      usage {
        ...UsageRow
      }
    }
  }
}
    fragment UsageRow on DriveUsage {
  usedBytes
  fileCount
  folderCount
  maxBytes
  maxFiles
  maxFolders
  maxFileSize
}`) as unknown as TypedDocumentString<QuotaQuery, QuotaQueryVariables>;
export const WorkspaceQuotaDocument = new TypedDocumentString(`
    query WorkspaceQuota($workspace: ID!) {
  workspace(id: $workspace) {
    memberCount
    maxMembers
    apiKeyCount
    maxApiKeys
    drive {
      usage {
        ...UsageRow
      }
    }
  }
}
    fragment UsageRow on DriveUsage {
  usedBytes
  fileCount
  folderCount
  maxBytes
  maxFiles
  maxFolders
  maxFileSize
}`) as unknown as TypedDocumentString<WorkspaceQuotaQuery, WorkspaceQuotaQueryVariables>;
export const WorkspaceDriveDocument = new TypedDocumentString(`
    query WorkspaceDrive($workspace: ID!) {
  workspace(id: $workspace) {
    drive {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<WorkspaceDriveQuery, WorkspaceDriveQueryVariables>;
export const ListDocument = new TypedDocumentString(`
    query List($own: Boolean!, $workspace: ID, $path: String!, $after: String) {
  me @include(if: $own) {
    drive {
      ...Level
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...Level
    }
  }
}
    fragment Level on Drive {
  entry(path: $path) {
    ... on Folder {
      entries(first: 1000, after: $after) {
        nodes {
          __typename
          ... on Folder {
            name
            size
            fileCount
            updatedAt
          }
          ...FileRow
        }
        pageInfo {
          ...Next
        }
      }
    }
  }
}
fragment FileRow on File {
  id
  name
  contentType
  size
  md5
  createdAt
  modifiedAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<ListQuery, ListQueryVariables>;
export const FindDocument = new TypedDocumentString(`
    query Find($own: Boolean!, $workspace: ID, $path: String!) {
  me @include(if: $own) {
    drive {
      ...At
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...At
    }
  }
}
    fragment At on Drive {
  entry(path: $path) {
    __typename
    ...FileRow
  }
}
fragment FileRow on File {
  id
  name
  contentType
  size
  md5
  createdAt
  modifiedAt
}`) as unknown as TypedDocumentString<FindQuery, FindQueryVariables>;
export const SearchDocument = new TypedDocumentString(`
    query Search($query: String!, $orderBy: SearchOrder, $first: Int!, $after: String) {
  search(query: $query, orderBy: $orderBy, first: $first, after: $after) {
    edges {
      matchedIn
      snippet {
        text
        ranges {
          start
          end
        }
      }
      node {
        kind
        name
        path
        size
        contentType
        updatedAt
        entry {
          id
          drive {
            owner {
              ... on Workspace {
                slug
              }
            }
          }
        }
        share {
          url
          entryKind
          sharedBy {
            email
          }
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
    hints {
      term
      message
    }
    isComplete
  }
}
    `) as unknown as TypedDocumentString<SearchQuery, SearchQueryVariables>;
export const LinkDocument = new TypedDocumentString(`
    query Link($own: Boolean!, $workspace: ID, $path: String!) {
  me @include(if: $own) {
    drive {
      ...Downloadable
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...Downloadable
    }
  }
}
    fragment Downloadable on Drive {
  entry(path: $path) {
    ... on File {
      download {
        url
      }
    }
  }
}`) as unknown as TypedDocumentString<LinkQuery, LinkQueryVariables>;
export const CapacityDocument = new TypedDocumentString(`
    query Capacity($own: Boolean!, $workspace: ID) {
  me @include(if: $own) {
    drive {
      ...Capacity
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...Capacity
    }
  }
}
    fragment Capacity on Drive {
  usage {
    ...UsageRow
  }
}
fragment UsageRow on DriveUsage {
  usedBytes
  fileCount
  folderCount
  maxBytes
  maxFiles
  maxFolders
  maxFileSize
}`) as unknown as TypedDocumentString<CapacityQuery, CapacityQueryVariables>;
export const NoteDocument = new TypedDocumentString(`
    query Note($path: String!) {
  me {
    drive {
      entry(path: $path) {
        ... on File {
          md5
          note
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<NoteQuery, NoteQueryVariables>;
export const WriteNoteDocument = new TypedDocumentString(`
    mutation WriteNote($input: WriteNoteInput!) {
  writeNote(input: $input) {
    note
  }
}
    `) as unknown as TypedDocumentString<WriteNoteMutation, WriteNoteMutationVariables>;
export const CreateFolderDocument = new TypedDocumentString(`
    mutation CreateFolder($input: CreateFolderInput!) {
  createFolder(input: $input) {
    folder {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<CreateFolderMutation, CreateFolderMutationVariables>;
export const MoveDocument = new TypedDocumentString(`
    mutation Move($input: MoveEntriesInput!) {
  moveEntries(input: $input) {
    entries {
      ... on Folder {
        fileCount
      }
    }
  }
}
    `) as unknown as TypedDocumentString<MoveMutation, MoveMutationVariables>;
export const CopyDocument = new TypedDocumentString(`
    mutation Copy($input: CopyEntriesInput!) {
  copyEntries(input: $input) {
    entries {
      path
    }
    copy {
      ...CopyRow
    }
  }
}
    fragment CopyRow on BackgroundCopy {
  id
  state
  entryCount
  copiedCount
  failure {
    code
    message
  }
  entries {
    path
  }
}`) as unknown as TypedDocumentString<CopyMutation, CopyMutationVariables>;
export const SaveSharedDocument = new TypedDocumentString(`
    mutation SaveShared($input: SaveSharedEntriesInput!) {
  saveSharedEntries(input: $input) {
    entries {
      path
    }
    copy {
      ...CopyRow
    }
  }
}
    fragment CopyRow on BackgroundCopy {
  id
  state
  entryCount
  copiedCount
  failure {
    code
    message
  }
  entries {
    path
  }
}`) as unknown as TypedDocumentString<SaveSharedMutation, SaveSharedMutationVariables>;
export const CopyStateDocument = new TypedDocumentString(`
    query CopyState($id: ID!) {
  node(id: $id) {
    ... on BackgroundCopy {
      ...CopyRow
    }
  }
}
    fragment CopyRow on BackgroundCopy {
  id
  state
  entryCount
  copiedCount
  failure {
    code
    message
  }
  entries {
    path
  }
}`) as unknown as TypedDocumentString<CopyStateQuery, CopyStateQueryVariables>;
export const DeleteDocument = new TypedDocumentString(`
    mutation Delete($input: DeleteEntriesInput!) {
  deleteEntries(input: $input) {
    filesDeleted
    trashItems {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<DeleteMutation, DeleteMutationVariables>;
export const TrashDocument = new TypedDocumentString(`
    query Trash($own: Boolean!, $workspace: ID, $after: String) {
  me @include(if: $own) {
    drive {
      ...Trash
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...Trash
    }
  }
}
    fragment Trash on Drive {
  trash(first: 1000, after: $after) {
    nodes {
      ...TrashRow
    }
    pageInfo {
      ...Next
    }
  }
}
fragment TrashRow on TrashItem {
  id
  path
  kind
  size
  fileCount
  deletedAt
  deletedBy {
    email
  }
  expiresAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<TrashQuery, TrashQueryVariables>;
export const RestoreFromTrashDocument = new TypedDocumentString(`
    mutation RestoreFromTrash($input: RestoreFromTrashInput!) {
  restoreFromTrash(input: $input) {
    entries {
      path
    }
  }
}
    `) as unknown as TypedDocumentString<RestoreFromTrashMutation, RestoreFromTrashMutationVariables>;
export const DeleteFromTrashDocument = new TypedDocumentString(`
    mutation DeleteFromTrash($input: DeleteFromTrashInput!) {
  deleteFromTrash(input: $input) {
    deletedIds
  }
}
    `) as unknown as TypedDocumentString<DeleteFromTrashMutation, DeleteFromTrashMutationVariables>;
export const EmptyTrashDocument = new TypedDocumentString(`
    mutation EmptyTrash($input: EmptyTrashInput!) {
  emptyTrash(input: $input) {
    count
  }
}
    `) as unknown as TypedDocumentString<EmptyTrashMutation, EmptyTrashMutationVariables>;
export const VersionsDocument = new TypedDocumentString(`
    query Versions($own: Boolean!, $workspace: ID, $path: String!, $after: String) {
  me @include(if: $own) {
    drive {
      ...Versions
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...Versions
    }
  }
}
    fragment Versions on Drive {
  entry(path: $path) {
    ... on File {
      versions(first: 1000, after: $after) {
        nodes {
          ...VersionRow
        }
        pageInfo {
          ...Next
        }
      }
    }
  }
}
fragment VersionRow on Version {
  id
  size
  md5
  createdAt
  modifiedAt
  createdBy {
    email
  }
  replacedAt
  expiresAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<VersionsQuery, VersionsQueryVariables>;
export const VersionDocument = new TypedDocumentString(`
    query Version($id: ID!) {
  node(id: $id) {
    ... on Version {
      size
      md5
      modifiedAt
      file {
        name
        path
      }
      download {
        url
      }
    }
  }
}
    `) as unknown as TypedDocumentString<VersionQuery, VersionQueryVariables>;
export const RestoreVersionDocument = new TypedDocumentString(`
    mutation RestoreVersion($input: RestoreVersionInput!) {
  restoreVersion(input: $input) {
    file {
      path
    }
  }
}
    `) as unknown as TypedDocumentString<RestoreVersionMutation, RestoreVersionMutationVariables>;
export const DeleteVersionDocument = new TypedDocumentString(`
    mutation DeleteVersion($input: DeleteVersionInput!) {
  deleteVersion(input: $input) {
    deletedId
  }
}
    `) as unknown as TypedDocumentString<DeleteVersionMutation, DeleteVersionMutationVariables>;
export const SyncRootDocument = new TypedDocumentString(`
    query SyncRoot($own: Boolean!, $workspace: ID, $path: String!) {
  me @include(if: $own) {
    drive {
      ...SyncRoot
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...SyncRoot
    }
  }
}
    fragment SyncRoot on Drive {
  entry(path: $path) {
    __typename
    id
  }
}`) as unknown as TypedDocumentString<SyncRootQuery, SyncRootQueryVariables>;
export const SyncLevelDocument = new TypedDocumentString(`
    query SyncLevel($folder: ID!, $after: String) {
  node(id: $folder) {
    ... on Folder {
      entries(first: 1000, after: $after) {
        nodes {
          ...SyncEntry
        }
        pageInfo {
          ...Next
        }
      }
    }
  }
}
    fragment SyncEntry on Entry {
  __typename
  id
  name
  revision
  updatedAt
  ... on File {
    size
    md5
  }
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<SyncLevelQuery, SyncLevelQueryVariables>;
export const SyncEntriesDocument = new TypedDocumentString(`
    query SyncEntries($ids: [ID!]!) {
  nodes(ids: $ids) {
    __typename
    ... on Entry {
      ...SyncEntry
      parent {
        id
      }
    }
  }
}
    fragment SyncEntry on Entry {
  __typename
  id
  name
  revision
  updatedAt
  ... on File {
    size
    md5
  }
}`) as unknown as TypedDocumentString<SyncEntriesQuery, SyncEntriesQueryVariables>;
export const SyncEventsDocument = new TypedDocumentString(`
    subscription SyncEvents($drive: ID) {
  driveEvents(drive: $drive) {
    cursor
  }
}
    `) as unknown as TypedDocumentString<SyncEventsSubscription, SyncEventsSubscriptionVariables>;
export const SyncLinkDocument = new TypedDocumentString(`
    query SyncLink($id: ID!) {
  node(id: $id) {
    ... on File {
      md5
      modifiedAt
      download {
        url
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SyncLinkQuery, SyncLinkQueryVariables>;
export const SendPartDocument = new TypedDocumentString(`
    mutation SendPart($input: UploadPartInput!) {
  uploadPart(input: $input) {
    crc32
  }
}
    `) as unknown as TypedDocumentString<SendPartMutation, SendPartMutationVariables>;
export const StartUploadDocument = new TypedDocumentString(`
    mutation StartUpload($input: StartUploadInput!) {
  startUpload(input: $input) {
    uploadSession {
      id
      chunkSize
      partCount
      expiresAt
    }
  }
}
    `) as unknown as TypedDocumentString<StartUploadMutation, StartUploadMutationVariables>;
export const UploadDocument = new TypedDocumentString(`
    query Upload($id: ID!) {
  node(id: $id) {
    ... on UploadSession {
      received
    }
  }
}
    `) as unknown as TypedDocumentString<UploadQuery, UploadQueryVariables>;
export const BeginCompletionDocument = new TypedDocumentString(`
    mutation BeginCompletion($input: BeginCompletionInput!) {
  beginCompletion(input: $input) {
    uploadSession {
      ...UploadOutcome
    }
  }
}
    fragment UploadOutcome on UploadSession {
  completion {
    checked
    failure {
      code
      message
      missing
    }
    file {
      name
    }
    md5
    state
  }
}`) as unknown as TypedDocumentString<BeginCompletionMutation, BeginCompletionMutationVariables>;
export const UploadOutcomeDocument = new TypedDocumentString(`
    query UploadOutcome($id: ID!) {
  node(id: $id) {
    ... on UploadSession {
      ...UploadOutcome
    }
  }
}
    fragment UploadOutcome on UploadSession {
  completion {
    checked
    failure {
      code
      message
      missing
    }
    file {
      name
    }
    md5
    state
  }
}`) as unknown as TypedDocumentString<UploadOutcomeQuery, UploadOutcomeQueryVariables>;
export const AbortUploadDocument = new TypedDocumentString(`
    mutation AbortUpload($input: AbortUploadInput!) {
  abortUpload(input: $input) {
    abortedId
  }
}
    `) as unknown as TypedDocumentString<AbortUploadMutation, AbortUploadMutationVariables>;
export const ShareDocument = new TypedDocumentString(`
    mutation Share($input: CreateDirectShareInput!) {
  createDirectShare(input: $input) {
    shares {
      fileName
      recipient
      token
      url
      expiresAt
    }
    mail
  }
}
    `) as unknown as TypedDocumentString<ShareMutation, ShareMutationVariables>;
export const QuickShareDocument = new TypedDocumentString(`
    mutation QuickShare($input: CreateLinkInput!) {
  createLink(input: $input) {
    share {
      token
      url
      expiresAt
    }
  }
}
    `) as unknown as TypedDocumentString<QuickShareMutation, QuickShareMutationVariables>;
export const SharesDocument = new TypedDocumentString(`
    query Shares($after: String) {
  me {
    shares(first: 1000, after: $after) {
      nodes {
        ...ShareRow
        entry {
          ...SharedEntry
        }
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment SharedEntry on Entry {
  path
  drive {
    id
    owner {
      ... on Workspace {
        slug
      }
    }
  }
}
fragment ShareRow on Share {
  id
  token
  url
  fileName
  entryCount
  contentType
  size
  md5
  createdAt
  expiresAt
  passwordProtected
  downloads
  maxDownloads
  label
  allowDownload
  sharedBy {
    email
  }
  ... on DirectShare {
    recipient
    seen
    mayEdit
  }
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<SharesQuery, SharesQueryVariables>;
export const ReceivedDocument = new TypedDocumentString(`
    query Received($seen: Boolean, $after: String) {
  me {
    receivedShares(seen: $seen, first: 1000, after: $after) {
      nodes {
        ...ShareRow
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment ShareRow on Share {
  id
  token
  url
  fileName
  entryCount
  contentType
  size
  md5
  createdAt
  expiresAt
  passwordProtected
  downloads
  maxDownloads
  label
  allowDownload
  sharedBy {
    email
  }
  ... on DirectShare {
    recipient
    seen
    mayEdit
  }
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<ReceivedQuery, ReceivedQueryVariables>;
export const MarkSeenDocument = new TypedDocumentString(`
    mutation MarkSeen($input: MarkShareSeenInput!) {
  markShareSeen(input: $input) {
    seenId
  }
}
    `) as unknown as TypedDocumentString<MarkSeenMutation, MarkSeenMutationVariables>;
export const UpdateShareDocument = new TypedDocumentString(`
    mutation UpdateShare($input: UpdateShareInput!) {
  updateShare(input: $input) {
    share {
      ...ShareRow
      entry {
        ...SharedEntry
      }
    }
  }
}
    fragment SharedEntry on Entry {
  path
  drive {
    id
    owner {
      ... on Workspace {
        slug
      }
    }
  }
}
fragment ShareRow on Share {
  id
  token
  url
  fileName
  entryCount
  contentType
  size
  md5
  createdAt
  expiresAt
  passwordProtected
  downloads
  maxDownloads
  label
  allowDownload
  sharedBy {
    email
  }
  ... on DirectShare {
    recipient
    seen
    mayEdit
  }
}`) as unknown as TypedDocumentString<UpdateShareMutation, UpdateShareMutationVariables>;
export const RevokeDocument = new TypedDocumentString(`
    mutation Revoke($input: RevokeShareInput!) {
  revokeShare(input: $input) {
    revokedId
  }
}
    `) as unknown as TypedDocumentString<RevokeMutation, RevokeMutationVariables>;
export const SharedListDocument = new TypedDocumentString(`
    query SharedList($token: String!, $path: String!, $query: String, $after: String) {
  sharedFolder(
    token: $token
    path: $path
    query: $query
    first: 1000
    after: $after
  ) {
    endCursor
    entries {
      ...SharedLine
    }
  }
}
    fragment SharedLine on SharedEntry {
  kind
  name
  path
  size
  contentType
  md5
  modifiedAt
  updatedAt
}`) as unknown as TypedDocumentString<SharedListQuery, SharedListQueryVariables>;
export const ShareInfoDocument = new TypedDocumentString(`
    query ShareInfo($token: String!) {
  share(token: $token) {
    entryKind
    fileName
    size
    passwordProtected
  }
}
    `) as unknown as TypedDocumentString<ShareInfoQuery, ShareInfoQueryVariables>;
export const OpenShareDocument = new TypedDocumentString(`
    mutation OpenShare($input: OpenShareInput!) {
  openShare(input: $input) {
    download {
      ...Bytes
    }
  }
}
    fragment Bytes on Download {
  url
  fileName
  size
  etag
}`) as unknown as TypedDocumentString<OpenShareMutation, OpenShareMutationVariables>;
export const ZipEntriesDocument = new TypedDocumentString(`
    mutation ZipEntries($input: ZipEntriesInput!) {
  zipEntries(input: $input) {
    download {
      ...Bytes
    }
  }
}
    fragment Bytes on Download {
  url
  fileName
  size
  etag
}`) as unknown as TypedDocumentString<ZipEntriesMutation, ZipEntriesMutationVariables>;
export const WorkspacesDocument = new TypedDocumentString(`
    query Workspaces($after: String) {
  me {
    workspaces(first: 1000, after: $after) {
      nodes {
        ...WorkspaceRow
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment WorkspaceRow on Workspace {
  id
  name
  slug
  role
  createdAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<WorkspacesQuery, WorkspacesQueryVariables>;
export const WorkspaceDocument = new TypedDocumentString(`
    query Workspace($id: ID, $slug: String) {
  workspace(id: $id, slug: $slug) {
    ...WorkspaceRow
  }
}
    fragment WorkspaceRow on Workspace {
  id
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<WorkspaceQuery, WorkspaceQueryVariables>;
export const WorkspaceIdDocument = new TypedDocumentString(`
    query WorkspaceId($slug: String!) {
  workspace(slug: $slug) {
    id
  }
}
    `) as unknown as TypedDocumentString<WorkspaceIdQuery, WorkspaceIdQueryVariables>;
export const CreateWorkspaceDocument = new TypedDocumentString(`
    mutation CreateWorkspace($input: CreateWorkspaceInput!) {
  createWorkspace(input: $input) {
    workspace {
      ...WorkspaceRow
    }
  }
}
    fragment WorkspaceRow on Workspace {
  id
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<CreateWorkspaceMutation, CreateWorkspaceMutationVariables>;
export const UpdateWorkspaceDocument = new TypedDocumentString(`
    mutation UpdateWorkspace($input: UpdateWorkspaceInput!) {
  updateWorkspace(input: $input) {
    workspace {
      ...WorkspaceRow
    }
  }
}
    fragment WorkspaceRow on Workspace {
  id
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<UpdateWorkspaceMutation, UpdateWorkspaceMutationVariables>;
export const DeleteWorkspaceDocument = new TypedDocumentString(`
    mutation DeleteWorkspace($input: DeleteWorkspaceInput!) {
  deleteWorkspace(input: $input) {
    deletedId
  }
}
    `) as unknown as TypedDocumentString<DeleteWorkspaceMutation, DeleteWorkspaceMutationVariables>;
export const MembersDocument = new TypedDocumentString(`
    query Members($workspace: ID!, $after: String) {
  workspace(id: $workspace) {
    members(first: 1000, after: $after) {
      nodes {
        id
        role
        joinedAt
        person {
          id
          email
          name
        }
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<MembersQuery, MembersQueryVariables>;
export const ChangeRoleDocument = new TypedDocumentString(`
    mutation ChangeRole($input: ChangeMemberRoleInput!) {
  changeMemberRole(input: $input) {
    member {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<ChangeRoleMutation, ChangeRoleMutationVariables>;
export const RemoveMemberDocument = new TypedDocumentString(`
    mutation RemoveMember($input: RemoveMemberInput!) {
  removeMember(input: $input) {
    removedId
  }
}
    `) as unknown as TypedDocumentString<RemoveMemberMutation, RemoveMemberMutationVariables>;
export const InviteDocument = new TypedDocumentString(`
    mutation Invite($input: CreateInviteInput!) {
  createInvite(input: $input) {
    invite {
      ...InviteRow
    }
  }
}
    fragment InviteRow on Invite {
  id
  email
  role
  createdAt
  expiresAt
}`) as unknown as TypedDocumentString<InviteMutation, InviteMutationVariables>;
export const WorkspaceInvitesDocument = new TypedDocumentString(`
    query WorkspaceInvites($workspace: ID!, $after: String) {
  workspace(id: $workspace) {
    invites(first: 1000, after: $after) {
      nodes {
        ...InviteRow
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment InviteRow on Invite {
  id
  email
  role
  createdAt
  expiresAt
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<WorkspaceInvitesQuery, WorkspaceInvitesQueryVariables>;
export const RevokeInviteDocument = new TypedDocumentString(`
    mutation RevokeInvite($input: RevokeInviteInput!) {
  revokeInvite(input: $input) {
    revokedId
  }
}
    `) as unknown as TypedDocumentString<RevokeInviteMutation, RevokeInviteMutationVariables>;
export const MyInvitesDocument = new TypedDocumentString(`
    query MyInvites($after: String) {
  me {
    invites(first: 1000, after: $after) {
      nodes {
        id
        workspaceId
        workspaceName
        workspaceSlug
        role
        token
        expiresAt
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<MyInvitesQuery, MyInvitesQueryVariables>;
export const AcceptInviteDocument = new TypedDocumentString(`
    mutation AcceptInvite($input: AcceptInviteInput!) {
  acceptInvite(input: $input) {
    workspace {
      ...WorkspaceRow
    }
  }
}
    fragment WorkspaceRow on Workspace {
  id
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<AcceptInviteMutation, AcceptInviteMutationVariables>;
export const RejectInviteDocument = new TypedDocumentString(`
    mutation RejectInvite($input: RejectInviteInput!) {
  rejectInvite(input: $input) {
    rejectedId
  }
}
    `) as unknown as TypedDocumentString<RejectInviteMutation, RejectInviteMutationVariables>;
export const KeysDocument = new TypedDocumentString(`
    query Keys($after: String) {
  me {
    apiKeys(first: 1000, after: $after) {
      nodes {
        ...KeyRow
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment KeyRow on ApiKey {
  id
  name
  description
  status
  scopes
  createdAt
  lastUsedAt
  expiresAt
  hint
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<KeysQuery, KeysQueryVariables>;
export const WorkspaceKeysDocument = new TypedDocumentString(`
    query WorkspaceKeys($workspace: ID!, $after: String) {
  workspace(id: $workspace) {
    apiKeys(first: 1000, after: $after) {
      nodes {
        ...KeyRow
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment KeyRow on ApiKey {
  id
  name
  description
  status
  scopes
  createdAt
  lastUsedAt
  expiresAt
  hint
}
fragment Next on PageInfo {
  hasNextPage
  endCursor
}`) as unknown as TypedDocumentString<WorkspaceKeysQuery, WorkspaceKeysQueryVariables>;
export const CreateKeyDocument = new TypedDocumentString(`
    mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    apiKey {
      id
      name
      scopes
      expiresAt
    }
    secret
  }
}
    `) as unknown as TypedDocumentString<CreateKeyMutation, CreateKeyMutationVariables>;
export const DeleteKeyDocument = new TypedDocumentString(`
    mutation DeleteKey($input: DeleteApiKeyInput!) {
  deleteApiKey(input: $input) {
    deletedId
  }
}
    `) as unknown as TypedDocumentString<DeleteKeyMutation, DeleteKeyMutationVariables>;
export const CreateFileRequestDocument = new TypedDocumentString(`
    mutation CreateFileRequest($input: CreateFileRequestInput!) {
  createFileRequest(input: $input) {
    fileRequest {
      ...FileRequestRow
    }
  }
}
    fragment FileRequestRow on FileRequest {
  id
  token
  url
  label
  path
  state
  fileCount
  size
  maxFiles
  maxFileSize
  maxBytes
  passwordProtected
  createdAt
  expiresAt
}`) as unknown as TypedDocumentString<CreateFileRequestMutation, CreateFileRequestMutationVariables>;
export const UpdateFileRequestDocument = new TypedDocumentString(`
    mutation UpdateFileRequest($input: UpdateFileRequestInput!) {
  updateFileRequest(input: $input) {
    fileRequest {
      ...FileRequestRow
    }
  }
}
    fragment FileRequestRow on FileRequest {
  id
  token
  url
  label
  path
  state
  fileCount
  size
  maxFiles
  maxFileSize
  maxBytes
  passwordProtected
  createdAt
  expiresAt
}`) as unknown as TypedDocumentString<UpdateFileRequestMutation, UpdateFileRequestMutationVariables>;
export const FileRequestsDocument = new TypedDocumentString(`
    query FileRequests($after: String) {
  me {
    fileRequests(first: 1000, after: $after) {
      nodes {
        ...FileRequestRow
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment Next on PageInfo {
  hasNextPage
  endCursor
}
fragment FileRequestRow on FileRequest {
  id
  token
  url
  label
  path
  state
  fileCount
  size
  maxFiles
  maxFileSize
  maxBytes
  passwordProtected
  createdAt
  expiresAt
}`) as unknown as TypedDocumentString<FileRequestsQuery, FileRequestsQueryVariables>;
export const CloseFileRequestDocument = new TypedDocumentString(`
    mutation CloseFileRequest($input: CloseFileRequestInput!) {
  closeFileRequest(input: $input) {
    fileRequest {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<CloseFileRequestMutation, CloseFileRequestMutationVariables>;
export const TagsDocument = new TypedDocumentString(`
    query Tags($own: Boolean!, $workspace: ID) {
  me @include(if: $own) {
    drive {
      ...DriveTags
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...DriveTags
    }
  }
}
    fragment DriveTags on Drive {
  id
  tags {
    ...TagRow
  }
}
fragment TagRow on Tag {
  id
  name
  colour
  entryCount
}`) as unknown as TypedDocumentString<TagsQuery, TagsQueryVariables>;
export const TaggedEntriesDocument = new TypedDocumentString(`
    query TaggedEntries($tag: ID!, $after: String) {
  node(id: $tag) {
    ... on Tag {
      entries(first: 1000, after: $after) {
        nodes {
          ...PlacedEntry
        }
        pageInfo {
          ...Next
        }
      }
    }
  }
}
    fragment Next on PageInfo {
  hasNextPage
  endCursor
}
fragment PlacedEntry on Entry {
  __typename
  id
  name
  path
  size
  updatedAt
  drive {
    owner {
      ... on Workspace {
        slug
      }
    }
  }
}`) as unknown as TypedDocumentString<TaggedEntriesQuery, TaggedEntriesQueryVariables>;
export const CreateTagDocument = new TypedDocumentString(`
    mutation CreateTag($input: CreateTagInput!) {
  createTag(input: $input) {
    tag {
      ...TagRow
    }
  }
}
    fragment TagRow on Tag {
  id
  name
  colour
  entryCount
}`) as unknown as TypedDocumentString<CreateTagMutation, CreateTagMutationVariables>;
export const UpdateTagDocument = new TypedDocumentString(`
    mutation UpdateTag($input: UpdateTagInput!) {
  updateTag(input: $input) {
    tag {
      ...TagRow
    }
  }
}
    fragment TagRow on Tag {
  id
  name
  colour
  entryCount
}`) as unknown as TypedDocumentString<UpdateTagMutation, UpdateTagMutationVariables>;
export const DeleteTagDocument = new TypedDocumentString(`
    mutation DeleteTag($input: DeleteTagInput!) {
  deleteTag(input: $input) {
    deletedId
  }
}
    `) as unknown as TypedDocumentString<DeleteTagMutation, DeleteTagMutationVariables>;
export const TagEntriesDocument = new TypedDocumentString(`
    mutation TagEntries($input: TagEntriesInput!) {
  tagEntries(input: $input) {
    entries {
      __typename
      path
      tags {
        name
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TagEntriesMutation, TagEntriesMutationVariables>;
export const EntryIdDocument = new TypedDocumentString(`
    query EntryId($own: Boolean!, $workspace: ID, $path: String!) {
  me @include(if: $own) {
    drive {
      ...EntryIdAt
    }
  }
  workspace(id: $workspace) @skip(if: $own) {
    drive {
      ...EntryIdAt
    }
  }
}
    fragment EntryIdAt on Drive {
  entry(path: $path) {
    __typename
    id
  }
}`) as unknown as TypedDocumentString<EntryIdQuery, EntryIdQueryVariables>;
export const AddFavouritesDocument = new TypedDocumentString(`
    mutation AddFavourites($input: AddFavouritesInput!) {
  addFavourites(input: $input) {
    entries {
      __typename
      id
    }
  }
}
    `) as unknown as TypedDocumentString<AddFavouritesMutation, AddFavouritesMutationVariables>;
export const RemoveFavouritesDocument = new TypedDocumentString(`
    mutation RemoveFavourites($input: RemoveFavouritesInput!) {
  removeFavourites(input: $input) {
    entries {
      __typename
      id
    }
  }
}
    `) as unknown as TypedDocumentString<RemoveFavouritesMutation, RemoveFavouritesMutationVariables>;
export const FavouritesDocument = new TypedDocumentString(`
    query Favourites {
  me {
    favourites {
      id
      name
      createdAt
      entry {
        ...PlacedEntry
      }
      share {
        url
        sharedBy {
          email
        }
      }
    }
  }
}
    fragment PlacedEntry on Entry {
  __typename
  id
  name
  path
  size
  updatedAt
  drive {
    owner {
      ... on Workspace {
        slug
      }
    }
  }
}`) as unknown as TypedDocumentString<FavouritesQuery, FavouritesQueryVariables>;
export const RecentDocument = new TypedDocumentString(`
    query Recent($first: Int!, $after: String) {
  me {
    recent(first: $first, after: $after) {
      nodes {
        kind
        happenedAt
        entry {
          ...PlacedEntry
        }
      }
      pageInfo {
        ...Next
      }
    }
  }
}
    fragment Next on PageInfo {
  hasNextPage
  endCursor
}
fragment PlacedEntry on Entry {
  __typename
  id
  name
  path
  size
  updatedAt
  drive {
    owner {
      ... on Workspace {
        slug
      }
    }
  }
}`) as unknown as TypedDocumentString<RecentQuery, RecentQueryVariables>;