// Made by test/client/generate.ts. npm run update makes it again.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** What acceptInvite takes. */
export type AcceptInviteInput = {
  /** The token of the invite. */
  token: string;
};

/** Whether an API key can be used. */
export type ApiKeyStatus =
  /** The key works. */
  | 'ACTIVE'
  /** The key no longer works. */
  | 'EXPIRED';

/** What changeMemberRole takes. */
export type ChangeMemberRoleInput = {
  /** The id of the member. */
  member: string | number;
  /** The new role. */
  role: Role;
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

/** What deleteWorkspace takes. */
export type DeleteWorkspaceInput = {
  /** Its id. */
  workspace: string | number;
};

/** A path in a drive, at which nothing needs to exist. */
export type DrivePath = {
  /** The id of the drive; by default the caller's own. For uploading, creating, moving and deleting, also the id of a share that the caller may edit. */
  drive?: string | number | null | undefined;
  /** Names joined by slashes, from the root of the drive, or from the shared folder. */
  path: string;
};

/** A file or folder, by id or by place. */
export type EntryRef =
  {   /** Its place. */
  at: DrivePath; id?: never; }
  |  { at?: never;   /** Its id. */
  id: string | number; };

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

/** What the caller may do. */
export type Permission =
  /** Delete and replace. */
  | 'DELETE'
  /** See and download. */
  | 'READ'
  /** Share with links and with people. */
  | 'SHARE'
  /** Upload, create folders, move and rename. */
  | 'WRITE';

/** What removeMember takes. */
export type RemoveMemberInput = {
  /** The id of the member. */
  member: string | number;
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

/** A share. */
export type ShareRef =
  {   /** Its id. */
  id: string | number; token?: never; }
  |  { id?: never;   /** Its token. */
  token: string; };

/** What uploadFile takes. */
export type UploadFileInput = {
  /** The expected revision of the existing file; fails with REVISION_MISMATCH if it has another one. */
  expectedRevision?: number | null | undefined;
  /** Its bytes and its name. */
  file: File;
  /** The destination folder; missing folders of a path are created. By default the root of the caller's own drive. */
  folder?: EntryRef | null | undefined;
  /** When the file was last modified on its computer; by default, the time of its upload. */
  modifiedAt?: string | null | undefined;
  /** What to do if the name is taken; by default FAIL. */
  onConflict?: OnConflict | null | undefined;
};

type EntryLine_File_Fragment = { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null };

type EntryLine_Folder_Fragment = { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null };

export type EntryLineFragment =
  | EntryLine_File_Fragment
  | EntryLine_Folder_Fragment
;

export type FolderPageFragment = { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
      | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
      | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
    >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null };

export type BreadcrumbsFragment = { parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null };

export type CrumbFragment = { id: string, name: string, size: number, fileCount: number };

export type DriveLineFragment = { id: string, root: { id: string, size: number, fileCount: number }, usage: { usedBytes: number, fileCount: number, folderCount: number } };

type ShareLine_DirectShare_Fragment = { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null };

type ShareLine_LinkShare_Fragment = { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null };

export type ShareLineFragment =
  | ShareLine_DirectShare_Fragment
  | ShareLine_LinkShare_Fragment
;

export type SharesOfViewerFragment = { id: string, shares: { edges: Array<{ node:
        | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
        | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
       }> } };

export type SharesOfFileFragment = { id: string, shareCount: number | null, shares: { nodes: Array<
      | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
      | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
    > } | null };

export type KeysOfViewerFragment = { id: string, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null };

export type KeyLineFragment = { id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string };

export type MembersPageFragment = { id: string, name: string, role: Role, memberCount: number | null, members: { nodes: Array<{ id: string, role: Role, person: { id: string, name: string } }> } | null };

export type InvitesPageFragment = { id: string, invites: { nodes: Array<{ id: string, email: string, role: Role }> } | null };

export type KeysOfWorkspaceFragment = { id: string, apiKeyCount: number | null, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null };

export type WorkspacesOfViewerFragment = { id: string, workspaces: { nodes: Array<{ id: string, name: string, slug: string, role: Role }> } | null };

export type HomeQueryVariables = Exact<{ [key: string]: never; }>;


export type HomeQuery = { me: { email: string, id: string, person: { id: string, name: string }, drive: { id: string, root: { id: string, size: number, fileCount: number, name: string, path: string, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
            | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
            | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null }, usage: { usedBytes: number, fileCount: number, folderCount: number } }, shares: { edges: Array<{ node:
          | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
          | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
         }> }, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null, workspaces: { nodes: Array<{ id: string, name: string, slug: string, role: Role }> } | null } };

export type WorkspaceHomeQueryVariables = Exact<{
  id: string | number;
}>;


export type WorkspaceHomeQuery = { workspace: { id: string, name: string, role: Role, memberCount: number | null, apiKeyCount: number | null, drive: { id: string, root: { id: string, size: number, fileCount: number, name: string, path: string, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
            | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
            | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null }, usage: { usedBytes: number, fileCount: number, folderCount: number } } | null, members: { nodes: Array<{ id: string, role: Role, person: { id: string, name: string } }> } | null, invites: { nodes: Array<{ id: string, email: string, role: Role }> } | null, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null } };

export type InvitedQueryVariables = Exact<{ [key: string]: never; }>;


export type InvitedQuery = { me: { id: string, invites: { nodes: Array<{ id: string, token: string | null, workspaceName: string }> } | null, workspaces: { nodes: Array<{ id: string, name: string, slug: string, role: Role }> } | null } };

export type FolderViewQueryVariables = Exact<{
  id: string | number;
}>;


export type FolderViewQuery = { node:
    | { __typename: 'Account' }
    | { __typename: 'ApiKey' }
    | { __typename: 'BackgroundCopy' }
    | { __typename: 'DirectShare' }
    | { __typename: 'Drive' }
    | { __typename: 'Event' }
    | { __typename: 'Favourite' }
    | { __typename: 'File' }
    | { __typename: 'FileRequest' }
    | { __typename: 'Folder', fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
          | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null }
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
   | null };

export type FileViewQueryVariables = Exact<{
  id: string | number;
}>;


export type FileViewQuery = { node:
    | { __typename: 'Account' }
    | { __typename: 'ApiKey' }
    | { __typename: 'BackgroundCopy' }
    | { __typename: 'DirectShare' }
    | { __typename: 'Drive' }
    | { __typename: 'Event' }
    | { __typename: 'Favourite' }
    | { __typename: 'File', md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null, shares: { nodes: Array<
          | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
          | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
        > } | null }
    | { __typename: 'FileRequest' }
    | { __typename: 'Folder', fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
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
   | null };

export type UploadMutationVariables = Exact<{
  input: UploadFileInput;
}>;


export type UploadMutation = { uploadFile: { folder: { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
          | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null } | null, drive: { id: string, root: { id: string, size: number, fileCount: number }, usage: { usedBytes: number, fileCount: number, folderCount: number } } } };

export type CreateFolderMutationVariables = Exact<{
  input: CreateFolderInput;
}>;


export type CreateFolderMutation = { createFolder: { folder: { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
          | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null }, parent: { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
          | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null } | null, drive: { id: string, root: { id: string, size: number, fileCount: number }, usage: { usedBytes: number, fileCount: number, folderCount: number } } } };

export type MoveMutationVariables = Exact<{
  input: MoveEntriesInput;
}>;


export type MoveMutation = { moveEntries: { entries: Array<
      | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
      | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
            | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
            | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null }
    > | null, from: Array<{ fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
          | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null }> | null, to: { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
          | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null } | null, drive: { id: string, root: { id: string, size: number, fileCount: number }, usage: { usedBytes: number, fileCount: number, folderCount: number } } } };

export type DeleteMutationVariables = Exact<{
  input: DeleteEntriesInput;
}>;


export type DeleteMutation = { deleteEntries: { deletedIds: Array<string>, folders: Array<{ fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, entries: { nodes: Array<
          | { md5: string, contentType: string, shareCount: number | null, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
          | { fileCount: number, id: string, name: string, path: string, size: number, updatedAt: string, permissions: Array<Permission>, createdBy: { id: string, name: string } | null }
        >, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, createdBy: { id: string, name: string } | null, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number, parent: { id: string, name: string, size: number, fileCount: number } | null } | null } | null }> | null, drive: { id: string, root: { id: string, size: number, fileCount: number }, usage: { usedBytes: number, fileCount: number, folderCount: number } } } };

export type LinkMutationVariables = Exact<{
  input: CreateLinkInput;
}>;


export type LinkMutation = { createLink: { share: { token: string }, file: { id: string, shareCount: number | null, shares: { nodes: Array<
          | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
          | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
        > } | null } | null, viewer: { id: string, shares: { edges: Array<{ node:
            | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
            | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
           }> } } | null } };

export type ShareWithMutationVariables = Exact<{
  input: CreateDirectShareInput;
}>;


export type ShareWithMutation = { createDirectShare: { shares: Array<{ file: { id: string, shareCount: number | null, shares: { nodes: Array<
            | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
            | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
          > } | null } | null }>, viewer: { id: string, shares: { edges: Array<{ node:
            | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
            | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
           }> } } | null } };

export type RevokeMutationVariables = Exact<{
  input: RevokeShareInput;
}>;


export type RevokeMutation = { revokeShare: { revokedId: string, file: { id: string, shareCount: number | null, shares: { nodes: Array<
          | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
          | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
        > } | null } | null, viewer: { id: string, shares: { edges: Array<{ node:
            | { recipient: string, id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
            | { id: string, fileName: string, downloads: number, maxDownloads: number | null, expiresAt: string | null }
           }> } } | null } };

export type CreateWorkspaceMutationVariables = Exact<{
  input: CreateWorkspaceInput;
}>;


export type CreateWorkspaceMutation = { createWorkspace: { workspace: { id: string, drive: { id: string } | null }, viewer: { id: string, workspaces: { nodes: Array<{ id: string, name: string, slug: string, role: Role }> } | null } | null } };

export type DeleteWorkspaceMutationVariables = Exact<{
  input: DeleteWorkspaceInput;
}>;


export type DeleteWorkspaceMutation = { deleteWorkspace: { deletedId: string, viewer: { id: string, workspaces: { nodes: Array<{ id: string, name: string, slug: string, role: Role }> } | null } | null } };

export type InvitePersonMutationVariables = Exact<{
  input: CreateInviteInput;
}>;


export type InvitePersonMutation = { createInvite: { invite: { id: string }, workspace: { id: string, invites: { nodes: Array<{ id: string, email: string, role: Role }> } | null } | null } };

export type RevokeInviteMutationVariables = Exact<{
  input: RevokeInviteInput;
}>;


export type RevokeInviteMutation = { revokeInvite: { revokedId: string, workspace: { id: string, invites: { nodes: Array<{ id: string, email: string, role: Role }> } | null } | null } };

export type AcceptInviteMutationVariables = Exact<{
  input: AcceptInviteInput;
}>;


export type AcceptInviteMutation = { acceptInvite: { workspace: { id: string }, viewer: { id: string, invites: { nodes: Array<{ id: string, token: string | null, workspaceName: string }> } | null, workspaces: { nodes: Array<{ id: string, name: string, slug: string, role: Role }> } | null } | null } };

export type ChangeRoleMutationVariables = Exact<{
  input: ChangeMemberRoleInput;
}>;


export type ChangeRoleMutation = { changeMemberRole: { member: { id: string, role: Role } | null } };

export type RemoveMemberMutationVariables = Exact<{
  input: RemoveMemberInput;
}>;


export type RemoveMemberMutation = { removeMember: { removedId: string, workspace: { id: string, name: string, role: Role, memberCount: number | null, members: { nodes: Array<{ id: string, role: Role, person: { id: string, name: string } }> } | null } | null } };

export type CreateKeyMutationVariables = Exact<{
  input: CreateApiKeyInput;
}>;


export type CreateKeyMutation = { createApiKey: { secret: string, apiKey: { id: string }, viewer: { id: string, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null } | null, workspace: { id: string, apiKeyCount: number | null, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null } | null } };

export type DeleteKeyMutationVariables = Exact<{
  input: DeleteApiKeyInput;
}>;


export type DeleteKeyMutation = { deleteApiKey: { deletedId: string, viewer: { id: string, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null } | null, workspace: { id: string, apiKeyCount: number | null, apiKeys: { nodes: Array<{ id: string, name: string, scopes: Array<Scope>, status: ApiKeyStatus, hint: string }> } | null } | null } };

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
export const EntryLineFragmentDoc = new TypedDocumentString(`
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
    `, {"fragmentName":"EntryLine"}) as unknown as TypedDocumentString<EntryLineFragment, unknown>;
export const CrumbFragmentDoc = new TypedDocumentString(`
    fragment Crumb on Folder {
  id
  name
  size
  fileCount
}
    `, {"fragmentName":"Crumb"}) as unknown as TypedDocumentString<CrumbFragment, unknown>;
export const BreadcrumbsFragmentDoc = new TypedDocumentString(`
    fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
    fragment Crumb on Folder {
  id
  name
  size
  fileCount
}`, {"fragmentName":"Breadcrumbs"}) as unknown as TypedDocumentString<BreadcrumbsFragment, unknown>;
export const FolderPageFragmentDoc = new TypedDocumentString(`
    fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}`, {"fragmentName":"FolderPage"}) as unknown as TypedDocumentString<FolderPageFragment, unknown>;
export const DriveLineFragmentDoc = new TypedDocumentString(`
    fragment DriveLine on Drive {
  id
  root {
    id
    size
    fileCount
  }
  usage {
    usedBytes
    fileCount
    folderCount
  }
}
    `, {"fragmentName":"DriveLine"}) as unknown as TypedDocumentString<DriveLineFragment, unknown>;
export const ShareLineFragmentDoc = new TypedDocumentString(`
    fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}
    `, {"fragmentName":"ShareLine"}) as unknown as TypedDocumentString<ShareLineFragment, unknown>;
export const SharesOfViewerFragmentDoc = new TypedDocumentString(`
    fragment SharesOfViewer on Viewer {
  id
  shares(first: 100) {
    edges {
      node {
        ...ShareLine
      }
    }
  }
}
    fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}`, {"fragmentName":"SharesOfViewer"}) as unknown as TypedDocumentString<SharesOfViewerFragment, unknown>;
export const SharesOfFileFragmentDoc = new TypedDocumentString(`
    fragment SharesOfFile on File {
  id
  shareCount
  shares(first: 10) {
    nodes {
      ...ShareLine
    }
  }
}
    fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}`, {"fragmentName":"SharesOfFile"}) as unknown as TypedDocumentString<SharesOfFileFragment, unknown>;
export const KeyLineFragmentDoc = new TypedDocumentString(`
    fragment KeyLine on ApiKey {
  id
  name
  scopes
  status
  hint
}
    `, {"fragmentName":"KeyLine"}) as unknown as TypedDocumentString<KeyLineFragment, unknown>;
export const KeysOfViewerFragmentDoc = new TypedDocumentString(`
    fragment KeysOfViewer on Viewer {
  id
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}
    fragment KeyLine on ApiKey {
  id
  name
  scopes
  status
  hint
}`, {"fragmentName":"KeysOfViewer"}) as unknown as TypedDocumentString<KeysOfViewerFragment, unknown>;
export const MembersPageFragmentDoc = new TypedDocumentString(`
    fragment MembersPage on Workspace {
  id
  name
  role
  memberCount
  members(first: 100) {
    nodes {
      id
      role
      person {
        id
        name
      }
    }
  }
}
    `, {"fragmentName":"MembersPage"}) as unknown as TypedDocumentString<MembersPageFragment, unknown>;
export const InvitesPageFragmentDoc = new TypedDocumentString(`
    fragment InvitesPage on Workspace {
  id
  invites(first: 100) {
    nodes {
      id
      email
      role
    }
  }
}
    `, {"fragmentName":"InvitesPage"}) as unknown as TypedDocumentString<InvitesPageFragment, unknown>;
export const KeysOfWorkspaceFragmentDoc = new TypedDocumentString(`
    fragment KeysOfWorkspace on Workspace {
  id
  apiKeyCount
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}
    fragment KeyLine on ApiKey {
  id
  name
  scopes
  status
  hint
}`, {"fragmentName":"KeysOfWorkspace"}) as unknown as TypedDocumentString<KeysOfWorkspaceFragment, unknown>;
export const WorkspacesOfViewerFragmentDoc = new TypedDocumentString(`
    fragment WorkspacesOfViewer on Viewer {
  id
  workspaces(first: 100) {
    nodes {
      id
      name
      slug
      role
    }
  }
}
    `, {"fragmentName":"WorkspacesOfViewer"}) as unknown as TypedDocumentString<WorkspacesOfViewerFragment, unknown>;
export const HomeDocument = new TypedDocumentString(`
    query Home {
  me {
    email
    person {
      id
      name
    }
    drive {
      ...DriveLine
      root {
        ...FolderPage
      }
    }
    ...SharesOfViewer
    ...KeysOfViewer
    ...WorkspacesOfViewer
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}
fragment DriveLine on Drive {
  id
  root {
    id
    size
    fileCount
  }
  usage {
    usedBytes
    fileCount
    folderCount
  }
}
fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}
fragment SharesOfViewer on Viewer {
  id
  shares(first: 100) {
    edges {
      node {
        ...ShareLine
      }
    }
  }
}
fragment KeysOfViewer on Viewer {
  id
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}
fragment KeyLine on ApiKey {
  id
  name
  scopes
  status
  hint
}
fragment WorkspacesOfViewer on Viewer {
  id
  workspaces(first: 100) {
    nodes {
      id
      name
      slug
      role
    }
  }
}`) as unknown as TypedDocumentString<HomeQuery, HomeQueryVariables>;
export const WorkspaceHomeDocument = new TypedDocumentString(`
    query WorkspaceHome($id: ID!) {
  workspace(id: $id) {
    ...MembersPage
    ...InvitesPage
    ...KeysOfWorkspace
    drive {
      ...DriveLine
      root {
        ...FolderPage
      }
    }
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}
fragment DriveLine on Drive {
  id
  root {
    id
    size
    fileCount
  }
  usage {
    usedBytes
    fileCount
    folderCount
  }
}
fragment KeyLine on ApiKey {
  id
  name
  scopes
  status
  hint
}
fragment MembersPage on Workspace {
  id
  name
  role
  memberCount
  members(first: 100) {
    nodes {
      id
      role
      person {
        id
        name
      }
    }
  }
}
fragment InvitesPage on Workspace {
  id
  invites(first: 100) {
    nodes {
      id
      email
      role
    }
  }
}
fragment KeysOfWorkspace on Workspace {
  id
  apiKeyCount
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}`) as unknown as TypedDocumentString<WorkspaceHomeQuery, WorkspaceHomeQueryVariables>;
export const InvitedDocument = new TypedDocumentString(`
    query Invited {
  me {
    id
    invites(first: 100) {
      nodes {
        id
        token
        workspaceName
      }
    }
    ...WorkspacesOfViewer
  }
}
    fragment WorkspacesOfViewer on Viewer {
  id
  workspaces(first: 100) {
    nodes {
      id
      name
      slug
      role
    }
  }
}`) as unknown as TypedDocumentString<InvitedQuery, InvitedQueryVariables>;
export const FolderViewDocument = new TypedDocumentString(`
    query FolderView($id: ID!) {
  node(id: $id) {
    __typename
    ...FolderPage
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}`) as unknown as TypedDocumentString<FolderViewQuery, FolderViewQueryVariables>;
export const FileViewDocument = new TypedDocumentString(`
    query FileView($id: ID!) {
  node(id: $id) {
    __typename
    ...EntryLine
    ...SharesOfFile
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}
fragment SharesOfFile on File {
  id
  shareCount
  shares(first: 10) {
    nodes {
      ...ShareLine
    }
  }
}`) as unknown as TypedDocumentString<FileViewQuery, FileViewQueryVariables>;
export const UploadDocument = new TypedDocumentString(`
    mutation Upload($input: UploadFileInput!) {
  uploadFile(input: $input) {
    folder {
      ...FolderPage
    }
    drive {
      ...DriveLine
    }
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}
fragment DriveLine on Drive {
  id
  root {
    id
    size
    fileCount
  }
  usage {
    usedBytes
    fileCount
    folderCount
  }
}`) as unknown as TypedDocumentString<UploadMutation, UploadMutationVariables>;
export const CreateFolderDocument = new TypedDocumentString(`
    mutation CreateFolder($input: CreateFolderInput!) {
  createFolder(input: $input) {
    folder {
      ...FolderPage
    }
    parent {
      ...FolderPage
    }
    drive {
      ...DriveLine
    }
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}
fragment DriveLine on Drive {
  id
  root {
    id
    size
    fileCount
  }
  usage {
    usedBytes
    fileCount
    folderCount
  }
}`) as unknown as TypedDocumentString<CreateFolderMutation, CreateFolderMutationVariables>;
export const MoveDocument = new TypedDocumentString(`
    mutation Move($input: MoveEntriesInput!) {
  moveEntries(input: $input) {
    entries {
      ...EntryLine
      ... on Folder {
        ...FolderPage
      }
    }
    from {
      ...FolderPage
    }
    to {
      ...FolderPage
    }
    drive {
      ...DriveLine
    }
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}
fragment DriveLine on Drive {
  id
  root {
    id
    size
    fileCount
  }
  usage {
    usedBytes
    fileCount
    folderCount
  }
}`) as unknown as TypedDocumentString<MoveMutation, MoveMutationVariables>;
export const DeleteDocument = new TypedDocumentString(`
    mutation Delete($input: DeleteEntriesInput!) {
  deleteEntries(input: $input) {
    deletedIds
    folders {
      ...FolderPage
    }
    drive {
      ...DriveLine
    }
  }
}
    fragment EntryLine on Entry {
  id
  name
  path
  size
  updatedAt
  permissions
  createdBy {
    id
    name
  }
  ... on File {
    md5
    contentType
    shareCount
  }
  ... on Folder {
    fileCount
  }
}
fragment FolderPage on Folder {
  ...EntryLine
  ...Breadcrumbs
  entries(first: 100) {
    nodes {
      ...EntryLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
fragment Breadcrumbs on Folder {
  parent {
    ...Crumb
    parent {
      ...Crumb
      parent {
        ...Crumb
      }
    }
  }
}
fragment Crumb on Folder {
  id
  name
  size
  fileCount
}
fragment DriveLine on Drive {
  id
  root {
    id
    size
    fileCount
  }
  usage {
    usedBytes
    fileCount
    folderCount
  }
}`) as unknown as TypedDocumentString<DeleteMutation, DeleteMutationVariables>;
export const LinkDocument = new TypedDocumentString(`
    mutation Link($input: CreateLinkInput!) {
  createLink(input: $input) {
    share {
      token
    }
    file {
      ...SharesOfFile
    }
    viewer {
      ...SharesOfViewer
    }
  }
}
    fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}
fragment SharesOfViewer on Viewer {
  id
  shares(first: 100) {
    edges {
      node {
        ...ShareLine
      }
    }
  }
}
fragment SharesOfFile on File {
  id
  shareCount
  shares(first: 10) {
    nodes {
      ...ShareLine
    }
  }
}`) as unknown as TypedDocumentString<LinkMutation, LinkMutationVariables>;
export const ShareWithDocument = new TypedDocumentString(`
    mutation ShareWith($input: CreateDirectShareInput!) {
  createDirectShare(input: $input) {
    shares {
      file {
        ...SharesOfFile
      }
    }
    viewer {
      ...SharesOfViewer
    }
  }
}
    fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}
fragment SharesOfViewer on Viewer {
  id
  shares(first: 100) {
    edges {
      node {
        ...ShareLine
      }
    }
  }
}
fragment SharesOfFile on File {
  id
  shareCount
  shares(first: 10) {
    nodes {
      ...ShareLine
    }
  }
}`) as unknown as TypedDocumentString<ShareWithMutation, ShareWithMutationVariables>;
export const RevokeDocument = new TypedDocumentString(`
    mutation Revoke($input: RevokeShareInput!) {
  revokeShare(input: $input) {
    revokedId
    file {
      ...SharesOfFile
    }
    viewer {
      ...SharesOfViewer
    }
  }
}
    fragment ShareLine on Share {
  id
  fileName
  downloads
  maxDownloads
  expiresAt
  ... on DirectShare {
    recipient
  }
}
fragment SharesOfViewer on Viewer {
  id
  shares(first: 100) {
    edges {
      node {
        ...ShareLine
      }
    }
  }
}
fragment SharesOfFile on File {
  id
  shareCount
  shares(first: 10) {
    nodes {
      ...ShareLine
    }
  }
}`) as unknown as TypedDocumentString<RevokeMutation, RevokeMutationVariables>;
export const CreateWorkspaceDocument = new TypedDocumentString(`
    mutation CreateWorkspace($input: CreateWorkspaceInput!) {
  createWorkspace(input: $input) {
    workspace {
      id
      drive {
        id
      }
    }
    viewer {
      ...WorkspacesOfViewer
    }
  }
}
    fragment WorkspacesOfViewer on Viewer {
  id
  workspaces(first: 100) {
    nodes {
      id
      name
      slug
      role
    }
  }
}`) as unknown as TypedDocumentString<CreateWorkspaceMutation, CreateWorkspaceMutationVariables>;
export const DeleteWorkspaceDocument = new TypedDocumentString(`
    mutation DeleteWorkspace($input: DeleteWorkspaceInput!) {
  deleteWorkspace(input: $input) {
    deletedId
    viewer {
      ...WorkspacesOfViewer
    }
  }
}
    fragment WorkspacesOfViewer on Viewer {
  id
  workspaces(first: 100) {
    nodes {
      id
      name
      slug
      role
    }
  }
}`) as unknown as TypedDocumentString<DeleteWorkspaceMutation, DeleteWorkspaceMutationVariables>;
export const InvitePersonDocument = new TypedDocumentString(`
    mutation InvitePerson($input: CreateInviteInput!) {
  createInvite(input: $input) {
    invite {
      id
    }
    workspace {
      ...InvitesPage
    }
  }
}
    fragment InvitesPage on Workspace {
  id
  invites(first: 100) {
    nodes {
      id
      email
      role
    }
  }
}`) as unknown as TypedDocumentString<InvitePersonMutation, InvitePersonMutationVariables>;
export const RevokeInviteDocument = new TypedDocumentString(`
    mutation RevokeInvite($input: RevokeInviteInput!) {
  revokeInvite(input: $input) {
    revokedId
    workspace {
      ...InvitesPage
    }
  }
}
    fragment InvitesPage on Workspace {
  id
  invites(first: 100) {
    nodes {
      id
      email
      role
    }
  }
}`) as unknown as TypedDocumentString<RevokeInviteMutation, RevokeInviteMutationVariables>;
export const AcceptInviteDocument = new TypedDocumentString(`
    mutation AcceptInvite($input: AcceptInviteInput!) {
  acceptInvite(input: $input) {
    workspace {
      id
    }
    viewer {
      id
      invites(first: 100) {
        nodes {
          id
          token
          workspaceName
        }
      }
      ...WorkspacesOfViewer
    }
  }
}
    fragment WorkspacesOfViewer on Viewer {
  id
  workspaces(first: 100) {
    nodes {
      id
      name
      slug
      role
    }
  }
}`) as unknown as TypedDocumentString<AcceptInviteMutation, AcceptInviteMutationVariables>;
export const ChangeRoleDocument = new TypedDocumentString(`
    mutation ChangeRole($input: ChangeMemberRoleInput!) {
  changeMemberRole(input: $input) {
    member {
      id
      role
    }
  }
}
    `) as unknown as TypedDocumentString<ChangeRoleMutation, ChangeRoleMutationVariables>;
export const RemoveMemberDocument = new TypedDocumentString(`
    mutation RemoveMember($input: RemoveMemberInput!) {
  removeMember(input: $input) {
    removedId
    workspace {
      ...MembersPage
    }
  }
}
    fragment MembersPage on Workspace {
  id
  name
  role
  memberCount
  members(first: 100) {
    nodes {
      id
      role
      person {
        id
        name
      }
    }
  }
}`) as unknown as TypedDocumentString<RemoveMemberMutation, RemoveMemberMutationVariables>;
export const CreateKeyDocument = new TypedDocumentString(`
    mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    secret
    apiKey {
      id
    }
    viewer {
      ...KeysOfViewer
    }
    workspace {
      ...KeysOfWorkspace
    }
  }
}
    fragment KeysOfViewer on Viewer {
  id
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}
fragment KeyLine on ApiKey {
  id
  name
  scopes
  status
  hint
}
fragment KeysOfWorkspace on Workspace {
  id
  apiKeyCount
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}`) as unknown as TypedDocumentString<CreateKeyMutation, CreateKeyMutationVariables>;
export const DeleteKeyDocument = new TypedDocumentString(`
    mutation DeleteKey($input: DeleteApiKeyInput!) {
  deleteApiKey(input: $input) {
    deletedId
    viewer {
      ...KeysOfViewer
    }
    workspace {
      ...KeysOfWorkspace
    }
  }
}
    fragment KeysOfViewer on Viewer {
  id
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}
fragment KeyLine on ApiKey {
  id
  name
  scopes
  status
  hint
}
fragment KeysOfWorkspace on Workspace {
  id
  apiKeyCount
  apiKeys(first: 100) {
    nodes {
      ...KeyLine
    }
  }
}`) as unknown as TypedDocumentString<DeleteKeyMutation, DeleteKeyMutationVariables>;