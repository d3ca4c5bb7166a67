// Made by test/client/generate.ts. UPDATE_CLIENT=1 npm test -- unit/client makes it again.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type AbortUploadInput = {
  uploadId: string | number;
};

export type AbortWorkspaceUploadInput = {
  uploadId: string | number;
  workspaceId: string | number;
};

export type AcceptInviteInput = {
  token: string;
};

export type ChangeMemberRoleInput = {
  /** owner, admin, editor or viewer */
  role: string;
  userId: string | number;
  workspaceId: string | number;
};

export type CompleteUploadInput = {
  /** Another name than planned. */
  filename?: string | null | undefined;
  /** Another folder than planned. */
  folder?: string | null | undefined;
  /** MD5 of the whole in hex, to be compared. */
  md5?: string | null | undefined;
  /** SHA-256 of the whole in hex, to be compared. */
  sha256?: string | null | undefined;
  uploadId: string | number;
};

export type CompleteWorkspaceUploadInput = {
  /** Another name than planned. */
  filename?: string | null | undefined;
  /** Another folder than planned. */
  folder?: string | null | undefined;
  /** MD5 of the whole in hex, to be compared. */
  md5?: string | null | undefined;
  /** SHA-256 of the whole in hex, to be compared. */
  sha256?: string | null | undefined;
  uploadId: string | number;
  workspaceId: string | number;
};

export type CreateDownloadTokenInput = {
  /** Full path. */
  file: string;
};

export type CreateFolderInput = {
  /** Full path; missing folders above it are made. */
  path: string;
};

export type CreateInviteInput = {
  email: string;
  /** admin, editor or viewer */
  role: string;
  workspaceId: string | number;
};

export type CreatePrivateApiKeyInput = {
  description?: string | null | undefined;
  /** A duration such as 90d; without it the key does not expire. */
  expiresIn?: string | null | undefined;
  /** 1 to 100 characters. */
  name: string;
  scopes: Array<string>;
};

export type CreatePublicShareInput = {
  /** How long the link lives: 30m, 24h, 7d, 2w, 1mo, 1y; 24h by default. */
  duration?: string | null | undefined;
  maxDownloads?: number | null | undefined;
  /** Full path of the file. */
  object: string;
  /** 1 to 128 characters. */
  password?: string | null | undefined;
};

export type CreateWorkspaceApiKeyInput = {
  description?: string | null | undefined;
  /** A duration such as 90d; without it the key does not expire. */
  expiresIn?: string | null | undefined;
  /** 1 to 100 characters. */
  name: string;
  scopes: Array<string>;
  workspaceId: string | number;
};

export type CreateWorkspaceFolderInput = {
  folderName: string;
  /** The root without it; it must exist. */
  parentPath?: string | null | undefined;
  workspaceId: string | number;
};

export type CreateWorkspaceInput = {
  /** 1 to 64 characters. */
  name: string;
  /** 1 to 48 of a-z, 0-9 and -; made from the name when it is missing. */
  slug?: string | null | undefined;
};

export type DeleteFileInput = {
  /** Full path. */
  file: string;
};

export type DeleteFolderInput = {
  path: string;
  /** Without it, only an empty folder is deleted. */
  recursive?: boolean | null | undefined;
};

export type DeleteInviteInput = {
  inviteId: string | number;
  workspaceId: string | number;
};

export type DeletePrivateApiKeyInput = {
  apiKeyId: string | number;
};

export type DeleteWorkspaceApiKeyInput = {
  apiKeyId: string | number;
  workspaceId: string | number;
};

export type DeleteWorkspaceFileInput = {
  fileId?: string | number | null | undefined;
  path?: string | null | undefined;
  workspaceId: string | number;
};

export type DeleteWorkspaceFolderInput = {
  path: string;
  workspaceId: string | number;
};

export type DeleteWorkspaceInput = {
  workspaceId: string | number;
};

export type MarkShareSeenInput = {
  sharingToken: string;
};

export type MovePathInput = {
  /** Full path, with the new name. */
  destination: string;
  /** Full path. */
  source: string;
};

export type MoveWorkspaceFileInput = {
  /** Full path, or a folder with fileId. */
  destination: string;
  /** With it, the destination is a folder and the name stays. */
  fileId?: string | number | null | undefined;
  /** Full path. */
  source?: string | null | undefined;
  workspaceId: string | number;
};

export type MoveWorkspaceFolderInput = {
  /** Full path, with the new name. */
  destination: string;
  /** Full path. */
  source: string;
  workspaceId: string | number;
};

export type RejectInviteInput = {
  token: string;
};

export type RemoveMemberInput = {
  userId: string | number;
  workspaceId: string | number;
};

export type RenameWorkspaceInput = {
  /** 1 to 64 characters. */
  name: string;
  /** Stays as it is when it is missing. */
  slug?: string | null | undefined;
  workspaceId: string | number;
};

export type ResolveShareInput = {
  /** download (default) or inline */
  mode?: string | null | undefined;
  password?: string | null | undefined;
  token: string;
};

export type RevokeShareInput = {
  token: string;
};

export type ShareFilesInput = {
  /** 7d by default. */
  duration?: string | null | undefined;
  /** Whoever has this verified address receives the files. */
  email: string;
  /** 1 to 100 full paths. */
  objects: Array<string>;
  /** 1 to 128 characters. */
  password?: string | null | undefined;
  /** Whether to tell the recipient. */
  sendEmail?: boolean | null | undefined;
};

export type StartUploadInput = {
  /** Media type. */
  contentType?: string | null | undefined;
  /** Send the parts straight to the blob store, to signed addresses. */
  direct?: boolean | null | undefined;
  filename: string;
  /** Path of the folder; missing ones are made when the upload is completed. */
  folder?: string | null | undefined;
  /** Bytes; reserved at once. */
  size: number;
};

export type StartWorkspaceUploadInput = {
  /** Media type. */
  contentType?: string | null | undefined;
  /** Send the parts straight to the blob store, to signed addresses. */
  direct?: boolean | null | undefined;
  filename: string;
  /** Path of the folder; missing ones are made when the upload is completed. */
  folder?: string | null | undefined;
  /** Bytes; reserved at once. */
  size: number;
  workspaceId: string | number;
};

export type WriteFileNoteInput = {
  /** MD5 of the content. */
  checksum: string;
  /** Up to 10,000 characters; an empty one removes the note. */
  content: string;
};

export type QuotaQueryVariables = Exact<{ [key: string]: never; }>;


export type QuotaQuery = { me: { email: string, usage: { usedBytes: number, fileCount: number, folderCount: number, maxTotalStorageBytes: number, maxFiles: number | null }, plan: { name: string, maxFileSizeBytes: number } } };

export type WorkspaceQuotaQueryVariables = Exact<{
  workspaceId: string | number;
}>;


export type WorkspaceQuotaQuery = { workspaceQuota: { fileCount: number, totalBytes: number, folderCount: number, memberCount: number, apiKeyCount: number, maxFilesWorkspace: number | null, maxTotalStorageBytesWorkspace: number, maxWorkspaceFolders: number | null, maxUsersWorkspace: number, maxWorkspaceApiKeys: number } };

export type ListQueryVariables = Exact<{
  path?: string | null | undefined;
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}>;


export type ListQuery = { fileTree: { nextCursor: string | null, folderEntries: Array<{ name: string, size: number, fileCount: number, updatedAt: string }>, files: Array<{ id: string, name: string, fileType: string, size: number, md5Checksum: string, createdAt: string }> } };

export type FindQueryVariables = Exact<{
  path: string;
}>;


export type FindQuery = { file: { id: string, name: string, fileType: string, size: number, md5Checksum: string, createdAt: string } | null, folder: { id: string } | null };

export type NoteQueryVariables = Exact<{
  path: string;
}>;


export type NoteQuery = { file: { md5Checksum: string, note: string } | null };

export type WriteNoteMutationVariables = Exact<{
  input: WriteFileNoteInput;
}>;


export type WriteNoteMutation = { writeFileNote: { note: string } };

export type CreateFolderMutationVariables = Exact<{
  input: CreateFolderInput;
}>;


export type CreateFolderMutation = { createFolder: { path: string } };

export type MoveFileMutationVariables = Exact<{
  input: MovePathInput;
}>;


export type MoveFileMutation = { moveFile: { destination: string } };

export type MoveFolderMutationVariables = Exact<{
  input: MovePathInput;
}>;


export type MoveFolderMutation = { moveFolder: { destination: string, filesMoved: number } };

export type DeleteFileMutationVariables = Exact<{
  input: DeleteFileInput;
}>;


export type DeleteFileMutation = { deleteFile: { fileDeleted: string } };

export type DeleteFolderMutationVariables = Exact<{
  input: DeleteFolderInput;
}>;


export type DeleteFolderMutation = { deleteFolder: { folderDeleted: string, filesDeleted: number } };

export type DownloadTokenMutationVariables = Exact<{
  input: CreateDownloadTokenInput;
}>;


export type DownloadTokenMutation = { createDownloadToken: { privateDownloadToken: string } };

export type DownloadLinkQueryVariables = Exact<{
  token: string;
}>;


export type DownloadLinkQuery = { privateDownload: { url: string } };

export type WorkspaceListQueryVariables = Exact<{
  workspaceId: string | number;
  path?: string | null | undefined;
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}>;


export type WorkspaceListQuery = { workspaceFileTree: { nextCursor: string | null, folders: Array<{ name: string, size: number, fileCount: number, updatedAt: string }>, files: Array<{ id: string, name: string, fileType: string, size: number, md5Checksum: string, createdAt: string }> } };

export type CreateWorkspaceFolderMutationVariables = Exact<{
  input: CreateWorkspaceFolderInput;
}>;


export type CreateWorkspaceFolderMutation = { createWorkspaceFolder: { name: string } };

export type MoveWorkspaceFileMutationVariables = Exact<{
  input: MoveWorkspaceFileInput;
}>;


export type MoveWorkspaceFileMutation = { moveWorkspaceFile: { destination: string } };

export type MoveWorkspaceFolderMutationVariables = Exact<{
  input: MoveWorkspaceFolderInput;
}>;


export type MoveWorkspaceFolderMutation = { moveWorkspaceFolder: { destination: string, updated: number } };

export type DeleteWorkspaceFileMutationVariables = Exact<{
  input: DeleteWorkspaceFileInput;
}>;


export type DeleteWorkspaceFileMutation = { deleteWorkspaceFile: { fileDeleted: string } };

export type DeleteWorkspaceFolderMutationVariables = Exact<{
  input: DeleteWorkspaceFolderInput;
}>;


export type DeleteWorkspaceFolderMutation = { deleteWorkspaceFolder: { folderDeleted: string, filesDeleted: number } };

export type WorkspaceLinkQueryVariables = Exact<{
  workspaceId: string | number;
  path: string;
}>;


export type WorkspaceLinkQuery = { workspaceDownload: { url: string } };

export type StartUploadMutationVariables = Exact<{
  input: StartUploadInput;
}>;


export type StartUploadMutation = { startUpload: { id: string, chunkSize: number, partCount: number, expiresAt: string } };

export type UploadQueryVariables = Exact<{
  id: string | number;
}>;


export type UploadQuery = { upload: { received: Array<number> } };

export type CompleteUploadMutationVariables = Exact<{
  input: CompleteUploadInput;
}>;


export type CompleteUploadMutation = { completeUpload: { md5Checksum: string } };

export type AbortUploadMutationVariables = Exact<{
  input: AbortUploadInput;
}>;


export type AbortUploadMutation = { abortUpload: null | null };

export type StartWorkspaceUploadMutationVariables = Exact<{
  input: StartWorkspaceUploadInput;
}>;


export type StartWorkspaceUploadMutation = { startWorkspaceUpload: { id: string, chunkSize: number, partCount: number, expiresAt: string } };

export type WorkspaceUploadQueryVariables = Exact<{
  workspaceId: string | number;
  id: string | number;
}>;


export type WorkspaceUploadQuery = { workspaceUpload: { received: Array<number> } };

export type CompleteWorkspaceUploadMutationVariables = Exact<{
  input: CompleteWorkspaceUploadInput;
}>;


export type CompleteWorkspaceUploadMutation = { completeWorkspaceUpload: { md5Checksum: string } };

export type AbortWorkspaceUploadMutationVariables = Exact<{
  input: AbortWorkspaceUploadInput;
}>;


export type AbortWorkspaceUploadMutation = { abortWorkspaceUpload: null | null };

export type ShareMutationVariables = Exact<{
  input: ShareFilesInput;
}>;


export type ShareMutation = { shareFiles: { notificationStatus: string, sharingInfo: Array<{ file: string, sharedFor: string, sharingToken: string, sharingLink: string, expiresAt: string }> } };

export type QuickShareMutationVariables = Exact<{
  input: CreatePublicShareInput;
}>;


export type QuickShareMutation = { createPublicShare: { sharingToken: string, sharingLink: string, expiresAt: string } };

export type SharesQueryVariables = Exact<{
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}>;


export type SharesQuery = { sentShares: { nextCursor: string | null, files: Array<{ sharingToken: string, sharingLink: string, fileName: string, fileType: string, size: number, md5Checksum: string, sharedBy: string, sharedFor: string, createdAt: string, expiresAt: string, seen: boolean, passwordProtected: boolean, downloads: number, maxDownloads: number | null }> } };

export type ReceivedQueryVariables = Exact<{
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}>;


export type ReceivedQuery = { receivedShares: { nextCursor: string | null, files: Array<{ sharingToken: string, sharingLink: string, fileName: string, fileType: string, size: number, md5Checksum: string, sharedBy: string, sharedFor: string, createdAt: string, expiresAt: string, seen: boolean, passwordProtected: boolean, downloads: number, maxDownloads: number | null }> } };

export type MarkSeenMutationVariables = Exact<{
  input: MarkShareSeenInput;
}>;


export type MarkSeenMutation = { markShareSeen: { seen: boolean } };

export type RevokeMutationVariables = Exact<{
  input: RevokeShareInput;
}>;


export type RevokeMutation = { revokeShare: { tokenRevoked: string } };

export type ShareInfoQueryVariables = Exact<{
  token: string;
}>;


export type ShareInfoQuery = { shareInfo: { fileName: string, size: number, passwordProtected: boolean } };

export type OpenShareMutationVariables = Exact<{
  input: ResolveShareInput;
}>;


export type OpenShareMutation = { resolveShare: { url: string } };

export type WorkspacesQueryVariables = Exact<{ [key: string]: never; }>;


export type WorkspacesQuery = { workspaces: Array<{ workspaceId: string, name: string, slug: string, role: string, createdAt: string }> };

export type CreateWorkspaceMutationVariables = Exact<{
  input: CreateWorkspaceInput;
}>;


export type CreateWorkspaceMutation = { createWorkspace: { workspaceId: string, name: string, slug: string, role: string, createdAt: string } };

export type RenameWorkspaceMutationVariables = Exact<{
  input: RenameWorkspaceInput;
}>;


export type RenameWorkspaceMutation = { renameWorkspace: { workspaceId: string, name: string, slug: string, role: string, createdAt: string } };

export type DeleteWorkspaceMutationVariables = Exact<{
  input: DeleteWorkspaceInput;
}>;


export type DeleteWorkspaceMutation = { deleteWorkspace: { workspaceId: string } };

export type MembersQueryVariables = Exact<{
  workspaceId: string | number;
}>;


export type MembersQuery = { workspaceMembers: Array<{ userId: string, email: string, name: string, role: string, joinedAt: string }> };

export type ChangeRoleMutationVariables = Exact<{
  input: ChangeMemberRoleInput;
}>;


export type ChangeRoleMutation = { changeMemberRole: { userId: string, role: string } };

export type RemoveMemberMutationVariables = Exact<{
  input: RemoveMemberInput;
}>;


export type RemoveMemberMutation = { removeMember: null | null };

export type InviteMutationVariables = Exact<{
  input: CreateInviteInput;
}>;


export type InviteMutation = { createInvite: { id: string, email: string, role: string, createdAt: string, expiresAt: string } };

export type WorkspaceInvitesQueryVariables = Exact<{
  workspaceId: string | number;
}>;


export type WorkspaceInvitesQuery = { workspaceInvites: Array<{ id: string, email: string, role: string, createdAt: string, expiresAt: string }> };

export type DeleteInviteMutationVariables = Exact<{
  input: DeleteInviteInput;
}>;


export type DeleteInviteMutation = { deleteInvite: { inviteId: string } };

export type MyInvitesQueryVariables = Exact<{ [key: string]: never; }>;


export type MyInvitesQuery = { myInvites: Array<{ id: string, workspaceId: string, workspaceName: string, workspaceSlug: string, role: string, token: string, expiresAt: string }> };

export type AcceptInviteMutationVariables = Exact<{
  input: AcceptInviteInput;
}>;


export type AcceptInviteMutation = { acceptInvite: { workspaceId: string, name: string, slug: string, role: string, createdAt: string } };

export type RejectInviteMutationVariables = Exact<{
  input: RejectInviteInput;
}>;


export type RejectInviteMutation = { rejectInvite: null | null };

export type KeysQueryVariables = Exact<{ [key: string]: never; }>;


export type KeysQuery = { privateApiKeys: Array<{ id: string, name: string, description: string, status: string, scopes: Array<string>, createdAt: string, lastUsedAt: string | null, expiresAt: string | null, keyHint: string }> };

export type WorkspaceKeysQueryVariables = Exact<{
  workspaceId: string | number;
}>;


export type WorkspaceKeysQuery = { workspaceApiKeys: Array<{ id: string, name: string, description: string, status: string, scopes: Array<string>, createdAt: string, lastUsedAt: string | null, expiresAt: string | null, keyHint: string }> };

export type CreateKeyMutationVariables = Exact<{
  input: CreatePrivateApiKeyInput;
}>;


export type CreateKeyMutation = { createPrivateApiKey: { id: string, name: string, key: string, scopes: Array<string>, expiresAt: string | null } };

export type CreateWorkspaceKeyMutationVariables = Exact<{
  input: CreateWorkspaceApiKeyInput;
}>;


export type CreateWorkspaceKeyMutation = { createWorkspaceApiKey: { id: string, name: string, key: string, scopes: Array<string>, expiresAt: string | null } };

export type DeleteKeyMutationVariables = Exact<{
  input: DeletePrivateApiKeyInput;
}>;


export type DeleteKeyMutation = { deletePrivateApiKey: null | null };

export type DeleteWorkspaceKeyMutationVariables = Exact<{
  input: DeleteWorkspaceApiKeyInput;
}>;


export type DeleteWorkspaceKeyMutation = { deleteWorkspaceApiKey: null | null };

export type ShareRowFragment = { sharingToken: string, sharingLink: string, fileName: string, fileType: string, size: number, md5Checksum: string, sharedBy: string, sharedFor: string, createdAt: string, expiresAt: string, seen: boolean, passwordProtected: boolean, downloads: number, maxDownloads: number | null };

export type WorkspaceRowFragment = { workspaceId: string, name: string, slug: string, role: string, createdAt: string };

export type InviteRowFragment = { id: string, email: string, role: string, createdAt: string, expiresAt: string };

export type KeyRowFragment = { id: string, name: string, description: string, status: string, scopes: Array<string>, createdAt: string, lastUsedAt: string | null, expiresAt: string | null, keyHint: string };

export type NewKeyFragment = { id: string, name: string, key: string, scopes: Array<string>, expiresAt: string | null };

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
export const ShareRowFragmentDoc = new TypedDocumentString(`
    fragment ShareRow on Share {
  sharingToken
  sharingLink
  fileName
  fileType
  size
  md5Checksum
  sharedBy
  sharedFor
  createdAt
  expiresAt
  seen
  passwordProtected
  downloads
  maxDownloads
}
    `, {"fragmentName":"ShareRow"}) as unknown as TypedDocumentString<ShareRowFragment, unknown>;
export const WorkspaceRowFragmentDoc = new TypedDocumentString(`
    fragment WorkspaceRow on Workspace {
  workspaceId
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
  keyHint
}
    `, {"fragmentName":"KeyRow"}) as unknown as TypedDocumentString<KeyRowFragment, unknown>;
export const NewKeyFragmentDoc = new TypedDocumentString(`
    fragment NewKey on CreatedApiKey {
  id
  name
  key
  scopes
  expiresAt
}
    `, {"fragmentName":"NewKey"}) as unknown as TypedDocumentString<NewKeyFragment, unknown>;
export const QuotaDocument = new TypedDocumentString(`
    query Quota {
  me {
    email
    usage {
      usedBytes
      fileCount
      folderCount
      maxTotalStorageBytes
      maxFiles
    }
    plan {
      name
      maxFileSizeBytes
    }
  }
}
    `) as unknown as TypedDocumentString<QuotaQuery, QuotaQueryVariables>;
export const WorkspaceQuotaDocument = new TypedDocumentString(`
    query WorkspaceQuota($workspaceId: ID!) {
  workspaceQuota(workspaceId: $workspaceId) {
    fileCount
    totalBytes
    folderCount
    memberCount
    apiKeyCount
    maxFilesWorkspace
    maxTotalStorageBytesWorkspace
    maxWorkspaceFolders
    maxUsersWorkspace
    maxWorkspaceApiKeys
  }
}
    `) as unknown as TypedDocumentString<WorkspaceQuotaQuery, WorkspaceQuotaQueryVariables>;
export const ListDocument = new TypedDocumentString(`
    query List($path: String, $limit: Int, $cursor: String) {
  fileTree(path: $path, limit: $limit, cursor: $cursor) {
    folderEntries {
      name
      size
      fileCount
      updatedAt
    }
    files {
      id
      name
      fileType
      size
      md5Checksum
      createdAt
    }
    nextCursor
  }
}
    `) as unknown as TypedDocumentString<ListQuery, ListQueryVariables>;
export const FindDocument = new TypedDocumentString(`
    query Find($path: String!) {
  file(path: $path) {
    id
    name
    fileType
    size
    md5Checksum
    createdAt
  }
  folder(path: $path) {
    id
  }
}
    `) as unknown as TypedDocumentString<FindQuery, FindQueryVariables>;
export const NoteDocument = new TypedDocumentString(`
    query Note($path: String!) {
  file(path: $path) {
    md5Checksum
    note
  }
}
    `) as unknown as TypedDocumentString<NoteQuery, NoteQueryVariables>;
export const WriteNoteDocument = new TypedDocumentString(`
    mutation WriteNote($input: WriteFileNoteInput!) {
  writeFileNote(input: $input) {
    note
  }
}
    `) as unknown as TypedDocumentString<WriteNoteMutation, WriteNoteMutationVariables>;
export const CreateFolderDocument = new TypedDocumentString(`
    mutation CreateFolder($input: CreateFolderInput!) {
  createFolder(input: $input) {
    path
  }
}
    `) as unknown as TypedDocumentString<CreateFolderMutation, CreateFolderMutationVariables>;
export const MoveFileDocument = new TypedDocumentString(`
    mutation MoveFile($input: MovePathInput!) {
  moveFile(input: $input) {
    destination
  }
}
    `) as unknown as TypedDocumentString<MoveFileMutation, MoveFileMutationVariables>;
export const MoveFolderDocument = new TypedDocumentString(`
    mutation MoveFolder($input: MovePathInput!) {
  moveFolder(input: $input) {
    destination
    filesMoved
  }
}
    `) as unknown as TypedDocumentString<MoveFolderMutation, MoveFolderMutationVariables>;
export const DeleteFileDocument = new TypedDocumentString(`
    mutation DeleteFile($input: DeleteFileInput!) {
  deleteFile(input: $input) {
    fileDeleted
  }
}
    `) as unknown as TypedDocumentString<DeleteFileMutation, DeleteFileMutationVariables>;
export const DeleteFolderDocument = new TypedDocumentString(`
    mutation DeleteFolder($input: DeleteFolderInput!) {
  deleteFolder(input: $input) {
    folderDeleted
    filesDeleted
  }
}
    `) as unknown as TypedDocumentString<DeleteFolderMutation, DeleteFolderMutationVariables>;
export const DownloadTokenDocument = new TypedDocumentString(`
    mutation DownloadToken($input: CreateDownloadTokenInput!) {
  createDownloadToken(input: $input) {
    privateDownloadToken
  }
}
    `) as unknown as TypedDocumentString<DownloadTokenMutation, DownloadTokenMutationVariables>;
export const DownloadLinkDocument = new TypedDocumentString(`
    query DownloadLink($token: String!) {
  privateDownload(token: $token) {
    url
  }
}
    `) as unknown as TypedDocumentString<DownloadLinkQuery, DownloadLinkQueryVariables>;
export const WorkspaceListDocument = new TypedDocumentString(`
    query WorkspaceList($workspaceId: ID!, $path: String, $limit: Int, $cursor: String) {
  workspaceFileTree(
    workspaceId: $workspaceId
    path: $path
    limit: $limit
    cursor: $cursor
  ) {
    folders {
      name
      size
      fileCount
      updatedAt
    }
    files {
      id
      name
      fileType
      size
      md5Checksum
      createdAt
    }
    nextCursor
  }
}
    `) as unknown as TypedDocumentString<WorkspaceListQuery, WorkspaceListQueryVariables>;
export const CreateWorkspaceFolderDocument = new TypedDocumentString(`
    mutation CreateWorkspaceFolder($input: CreateWorkspaceFolderInput!) {
  createWorkspaceFolder(input: $input) {
    name
  }
}
    `) as unknown as TypedDocumentString<CreateWorkspaceFolderMutation, CreateWorkspaceFolderMutationVariables>;
export const MoveWorkspaceFileDocument = new TypedDocumentString(`
    mutation MoveWorkspaceFile($input: MoveWorkspaceFileInput!) {
  moveWorkspaceFile(input: $input) {
    destination
  }
}
    `) as unknown as TypedDocumentString<MoveWorkspaceFileMutation, MoveWorkspaceFileMutationVariables>;
export const MoveWorkspaceFolderDocument = new TypedDocumentString(`
    mutation MoveWorkspaceFolder($input: MoveWorkspaceFolderInput!) {
  moveWorkspaceFolder(input: $input) {
    destination
    updated
  }
}
    `) as unknown as TypedDocumentString<MoveWorkspaceFolderMutation, MoveWorkspaceFolderMutationVariables>;
export const DeleteWorkspaceFileDocument = new TypedDocumentString(`
    mutation DeleteWorkspaceFile($input: DeleteWorkspaceFileInput!) {
  deleteWorkspaceFile(input: $input) {
    fileDeleted
  }
}
    `) as unknown as TypedDocumentString<DeleteWorkspaceFileMutation, DeleteWorkspaceFileMutationVariables>;
export const DeleteWorkspaceFolderDocument = new TypedDocumentString(`
    mutation DeleteWorkspaceFolder($input: DeleteWorkspaceFolderInput!) {
  deleteWorkspaceFolder(input: $input) {
    folderDeleted
    filesDeleted
  }
}
    `) as unknown as TypedDocumentString<DeleteWorkspaceFolderMutation, DeleteWorkspaceFolderMutationVariables>;
export const WorkspaceLinkDocument = new TypedDocumentString(`
    query WorkspaceLink($workspaceId: ID!, $path: String!) {
  workspaceDownload(workspaceId: $workspaceId, path: $path) {
    url
  }
}
    `) as unknown as TypedDocumentString<WorkspaceLinkQuery, WorkspaceLinkQueryVariables>;
export const StartUploadDocument = new TypedDocumentString(`
    mutation StartUpload($input: StartUploadInput!) {
  startUpload(input: $input) {
    id
    chunkSize
    partCount
    expiresAt
  }
}
    `) as unknown as TypedDocumentString<StartUploadMutation, StartUploadMutationVariables>;
export const UploadDocument = new TypedDocumentString(`
    query Upload($id: ID!) {
  upload(id: $id) {
    received
  }
}
    `) as unknown as TypedDocumentString<UploadQuery, UploadQueryVariables>;
export const CompleteUploadDocument = new TypedDocumentString(`
    mutation CompleteUpload($input: CompleteUploadInput!) {
  completeUpload(input: $input) {
    md5Checksum
  }
}
    `) as unknown as TypedDocumentString<CompleteUploadMutation, CompleteUploadMutationVariables>;
export const AbortUploadDocument = new TypedDocumentString(`
    mutation AbortUpload($input: AbortUploadInput!) {
  abortUpload(input: $input)
}
    `) as unknown as TypedDocumentString<AbortUploadMutation, AbortUploadMutationVariables>;
export const StartWorkspaceUploadDocument = new TypedDocumentString(`
    mutation StartWorkspaceUpload($input: StartWorkspaceUploadInput!) {
  startWorkspaceUpload(input: $input) {
    id
    chunkSize
    partCount
    expiresAt
  }
}
    `) as unknown as TypedDocumentString<StartWorkspaceUploadMutation, StartWorkspaceUploadMutationVariables>;
export const WorkspaceUploadDocument = new TypedDocumentString(`
    query WorkspaceUpload($workspaceId: ID!, $id: ID!) {
  workspaceUpload(workspaceId: $workspaceId, id: $id) {
    received
  }
}
    `) as unknown as TypedDocumentString<WorkspaceUploadQuery, WorkspaceUploadQueryVariables>;
export const CompleteWorkspaceUploadDocument = new TypedDocumentString(`
    mutation CompleteWorkspaceUpload($input: CompleteWorkspaceUploadInput!) {
  completeWorkspaceUpload(input: $input) {
    md5Checksum
  }
}
    `) as unknown as TypedDocumentString<CompleteWorkspaceUploadMutation, CompleteWorkspaceUploadMutationVariables>;
export const AbortWorkspaceUploadDocument = new TypedDocumentString(`
    mutation AbortWorkspaceUpload($input: AbortWorkspaceUploadInput!) {
  abortWorkspaceUpload(input: $input)
}
    `) as unknown as TypedDocumentString<AbortWorkspaceUploadMutation, AbortWorkspaceUploadMutationVariables>;
export const ShareDocument = new TypedDocumentString(`
    mutation Share($input: ShareFilesInput!) {
  shareFiles(input: $input) {
    sharingInfo {
      file
      sharedFor
      sharingToken
      sharingLink
      expiresAt
    }
    notificationStatus
  }
}
    `) as unknown as TypedDocumentString<ShareMutation, ShareMutationVariables>;
export const QuickShareDocument = new TypedDocumentString(`
    mutation QuickShare($input: CreatePublicShareInput!) {
  createPublicShare(input: $input) {
    sharingToken
    sharingLink
    expiresAt
  }
}
    `) as unknown as TypedDocumentString<QuickShareMutation, QuickShareMutationVariables>;
export const SharesDocument = new TypedDocumentString(`
    query Shares($limit: Int, $cursor: String) {
  sentShares(limit: $limit, cursor: $cursor) {
    files {
      ...ShareRow
    }
    nextCursor
  }
}
    fragment ShareRow on Share {
  sharingToken
  sharingLink
  fileName
  fileType
  size
  md5Checksum
  sharedBy
  sharedFor
  createdAt
  expiresAt
  seen
  passwordProtected
  downloads
  maxDownloads
}`) as unknown as TypedDocumentString<SharesQuery, SharesQueryVariables>;
export const ReceivedDocument = new TypedDocumentString(`
    query Received($limit: Int, $cursor: String) {
  receivedShares(limit: $limit, cursor: $cursor) {
    files {
      ...ShareRow
    }
    nextCursor
  }
}
    fragment ShareRow on Share {
  sharingToken
  sharingLink
  fileName
  fileType
  size
  md5Checksum
  sharedBy
  sharedFor
  createdAt
  expiresAt
  seen
  passwordProtected
  downloads
  maxDownloads
}`) as unknown as TypedDocumentString<ReceivedQuery, ReceivedQueryVariables>;
export const MarkSeenDocument = new TypedDocumentString(`
    mutation MarkSeen($input: MarkShareSeenInput!) {
  markShareSeen(input: $input) {
    seen
  }
}
    `) as unknown as TypedDocumentString<MarkSeenMutation, MarkSeenMutationVariables>;
export const RevokeDocument = new TypedDocumentString(`
    mutation Revoke($input: RevokeShareInput!) {
  revokeShare(input: $input) {
    tokenRevoked
  }
}
    `) as unknown as TypedDocumentString<RevokeMutation, RevokeMutationVariables>;
export const ShareInfoDocument = new TypedDocumentString(`
    query ShareInfo($token: String!) {
  shareInfo(token: $token) {
    fileName
    size
    passwordProtected
  }
}
    `) as unknown as TypedDocumentString<ShareInfoQuery, ShareInfoQueryVariables>;
export const OpenShareDocument = new TypedDocumentString(`
    mutation OpenShare($input: ResolveShareInput!) {
  resolveShare(input: $input) {
    url
  }
}
    `) as unknown as TypedDocumentString<OpenShareMutation, OpenShareMutationVariables>;
export const WorkspacesDocument = new TypedDocumentString(`
    query Workspaces {
  workspaces {
    ...WorkspaceRow
  }
}
    fragment WorkspaceRow on Workspace {
  workspaceId
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<WorkspacesQuery, WorkspacesQueryVariables>;
export const CreateWorkspaceDocument = new TypedDocumentString(`
    mutation CreateWorkspace($input: CreateWorkspaceInput!) {
  createWorkspace(input: $input) {
    ...WorkspaceRow
  }
}
    fragment WorkspaceRow on Workspace {
  workspaceId
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<CreateWorkspaceMutation, CreateWorkspaceMutationVariables>;
export const RenameWorkspaceDocument = new TypedDocumentString(`
    mutation RenameWorkspace($input: RenameWorkspaceInput!) {
  renameWorkspace(input: $input) {
    ...WorkspaceRow
  }
}
    fragment WorkspaceRow on Workspace {
  workspaceId
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<RenameWorkspaceMutation, RenameWorkspaceMutationVariables>;
export const DeleteWorkspaceDocument = new TypedDocumentString(`
    mutation DeleteWorkspace($input: DeleteWorkspaceInput!) {
  deleteWorkspace(input: $input) {
    workspaceId
  }
}
    `) as unknown as TypedDocumentString<DeleteWorkspaceMutation, DeleteWorkspaceMutationVariables>;
export const MembersDocument = new TypedDocumentString(`
    query Members($workspaceId: ID!) {
  workspaceMembers(workspaceId: $workspaceId) {
    userId
    email
    name
    role
    joinedAt
  }
}
    `) as unknown as TypedDocumentString<MembersQuery, MembersQueryVariables>;
export const ChangeRoleDocument = new TypedDocumentString(`
    mutation ChangeRole($input: ChangeMemberRoleInput!) {
  changeMemberRole(input: $input) {
    userId
    role
  }
}
    `) as unknown as TypedDocumentString<ChangeRoleMutation, ChangeRoleMutationVariables>;
export const RemoveMemberDocument = new TypedDocumentString(`
    mutation RemoveMember($input: RemoveMemberInput!) {
  removeMember(input: $input)
}
    `) as unknown as TypedDocumentString<RemoveMemberMutation, RemoveMemberMutationVariables>;
export const InviteDocument = new TypedDocumentString(`
    mutation Invite($input: CreateInviteInput!) {
  createInvite(input: $input) {
    ...InviteRow
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
    query WorkspaceInvites($workspaceId: ID!) {
  workspaceInvites(workspaceId: $workspaceId) {
    ...InviteRow
  }
}
    fragment InviteRow on Invite {
  id
  email
  role
  createdAt
  expiresAt
}`) as unknown as TypedDocumentString<WorkspaceInvitesQuery, WorkspaceInvitesQueryVariables>;
export const DeleteInviteDocument = new TypedDocumentString(`
    mutation DeleteInvite($input: DeleteInviteInput!) {
  deleteInvite(input: $input) {
    inviteId
  }
}
    `) as unknown as TypedDocumentString<DeleteInviteMutation, DeleteInviteMutationVariables>;
export const MyInvitesDocument = new TypedDocumentString(`
    query MyInvites {
  myInvites {
    id
    workspaceId
    workspaceName
    workspaceSlug
    role
    token
    expiresAt
  }
}
    `) as unknown as TypedDocumentString<MyInvitesQuery, MyInvitesQueryVariables>;
export const AcceptInviteDocument = new TypedDocumentString(`
    mutation AcceptInvite($input: AcceptInviteInput!) {
  acceptInvite(input: $input) {
    ...WorkspaceRow
  }
}
    fragment WorkspaceRow on Workspace {
  workspaceId
  name
  slug
  role
  createdAt
}`) as unknown as TypedDocumentString<AcceptInviteMutation, AcceptInviteMutationVariables>;
export const RejectInviteDocument = new TypedDocumentString(`
    mutation RejectInvite($input: RejectInviteInput!) {
  rejectInvite(input: $input)
}
    `) as unknown as TypedDocumentString<RejectInviteMutation, RejectInviteMutationVariables>;
export const KeysDocument = new TypedDocumentString(`
    query Keys {
  privateApiKeys {
    ...KeyRow
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
  keyHint
}`) as unknown as TypedDocumentString<KeysQuery, KeysQueryVariables>;
export const WorkspaceKeysDocument = new TypedDocumentString(`
    query WorkspaceKeys($workspaceId: ID!) {
  workspaceApiKeys(workspaceId: $workspaceId) {
    ...KeyRow
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
  keyHint
}`) as unknown as TypedDocumentString<WorkspaceKeysQuery, WorkspaceKeysQueryVariables>;
export const CreateKeyDocument = new TypedDocumentString(`
    mutation CreateKey($input: CreatePrivateApiKeyInput!) {
  createPrivateApiKey(input: $input) {
    ...NewKey
  }
}
    fragment NewKey on CreatedApiKey {
  id
  name
  key
  scopes
  expiresAt
}`) as unknown as TypedDocumentString<CreateKeyMutation, CreateKeyMutationVariables>;
export const CreateWorkspaceKeyDocument = new TypedDocumentString(`
    mutation CreateWorkspaceKey($input: CreateWorkspaceApiKeyInput!) {
  createWorkspaceApiKey(input: $input) {
    ...NewKey
  }
}
    fragment NewKey on CreatedApiKey {
  id
  name
  key
  scopes
  expiresAt
}`) as unknown as TypedDocumentString<CreateWorkspaceKeyMutation, CreateWorkspaceKeyMutationVariables>;
export const DeleteKeyDocument = new TypedDocumentString(`
    mutation DeleteKey($input: DeletePrivateApiKeyInput!) {
  deletePrivateApiKey(input: $input)
}
    `) as unknown as TypedDocumentString<DeleteKeyMutation, DeleteKeyMutationVariables>;
export const DeleteWorkspaceKeyDocument = new TypedDocumentString(`
    mutation DeleteWorkspaceKey($input: DeleteWorkspaceApiKeyInput!) {
  deleteWorkspaceApiKey(input: $input)
}
    `) as unknown as TypedDocumentString<DeleteWorkspaceKeyMutation, DeleteWorkspaceKeyMutationVariables>;