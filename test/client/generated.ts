// Made by test/client/generate.ts. npm run update makes it again.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
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

/** Whether a mail was sent. */
export type MailStatus =
  /** The mail could not be queued. */
  | 'FAILED'
  /** No mail was requested, or it is not allowed now. */
  | 'NOT_SENT'
  /** The mail is queued. */
  | 'QUEUED';

/** What to do if a name is taken: refuse, choose a free name such as "report (2).pdf", or replace the existing entry. An upload becomes the new content of the existing file, whose old content becomes a version; a move, copy or restore puts the existing entry into the trash. Replacing needs the right to delete. */
export type OnConflict =
  /** Fails with PATH_EXISTS. */
  | 'FAIL'
  /** Chooses a free name. */
  | 'KEEP_BOTH'
  /** Replaces the existing entry. */
  | 'REPLACE';

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

export type HomeQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type HomeQuery = { me: { email: string, drive: { usage: { usedBytes: number, fileCount: number, maxBytes: number, maxFiles: number | null }, root: { entries: { edges: Array<{ node:
              | { md5: string, id: string, path: string, size: number, createdAt: string }
              | { id: string, path: string, size: number, createdAt: string }
             }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } }, workspaces: { edges: Array<{ node: { id: string, name: string, role: Role } }> } | null } };

export type ReceivedQueryVariables = Exact<{ [key: string]: never; }>;


export type ReceivedQuery = { me: { unseenShareCount: number, receivedShares: { edges: Array<{ node: { token: string, fileName: string, size: number, seen: boolean, sharedBy: { email: string } } }> } } };

export type FindQueryVariables = Exact<{
  id: string | number;
}>;


export type FindQuery = { node:
    | { __typename: 'Account' }
    | { __typename: 'ApiKey' }
    | { __typename: 'BackgroundCopy' }
    | { __typename: 'DirectShare', token: string, fileName: string, size: number, seen: boolean, sharedBy: { email: string } }
    | { __typename: 'Drive' }
    | { __typename: 'Event' }
    | { __typename: 'Favourite' }
    | { __typename: 'File', md5: string, id: string, path: string, size: number, createdAt: string }
    | { __typename: 'FileRequest' }
    | { __typename: 'Folder', id: string, path: string, size: number, createdAt: string }
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


export type UploadMutation = { uploadFile: { file: { md5: string, id: string, path: string, size: number, createdAt: string } } };

export type ShareMutationVariables = Exact<{
  input: CreateDirectShareInput;
}>;


export type ShareMutation = { createDirectShare: { mail: MailStatus, shares: Array<{ token: string, url: string, expiresAt: string | null }> } };

export type OpenMutationVariables = Exact<{
  token: string;
  password?: string | null | undefined;
}>;


export type OpenMutation = { openShare: { download: { url: string, fileName: string } } };

export type ShareReceivedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type ShareReceivedSubscription = { shareReceived: { token: string, fileName: string, size: number, seen: boolean, sharedBy: { email: string } } };

export type UsageChangedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type UsageChangedSubscription = { driveChanged: { usage: { usedBytes: number, fileCount: number, maxBytes: number, maxFiles: number | null } } };

export type UsageFragment = { usedBytes: number, fileCount: number, maxBytes: number, maxFiles: number | null };

type EntryLine_File_Fragment = { md5: string, id: string, path: string, size: number, createdAt: string };

type EntryLine_Folder_Fragment = { id: string, path: string, size: number, createdAt: string };

export type EntryLineFragment =
  | EntryLine_File_Fragment
  | EntryLine_Folder_Fragment
;

export type ShareLineFragment = { token: string, fileName: string, size: number, seen: boolean, sharedBy: { email: string } };

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
export const UsageFragmentDoc = new TypedDocumentString(`
    fragment Usage on DriveUsage {
  usedBytes
  fileCount
  maxBytes
  maxFiles
}
    `, {"fragmentName":"Usage"}) as unknown as TypedDocumentString<UsageFragment, unknown>;
export const EntryLineFragmentDoc = new TypedDocumentString(`
    fragment EntryLine on Entry {
  id
  path
  size
  createdAt
  ... on File {
    md5
  }
}
    `, {"fragmentName":"EntryLine"}) as unknown as TypedDocumentString<EntryLineFragment, unknown>;
export const ShareLineFragmentDoc = new TypedDocumentString(`
    fragment ShareLine on DirectShare {
  token
  fileName
  size
  sharedBy {
    email
  }
  seen
}
    `, {"fragmentName":"ShareLine"}) as unknown as TypedDocumentString<ShareLineFragment, unknown>;
export const HomeDocument = new TypedDocumentString(`
    query Home($first: Int!, $after: String) {
  me {
    email
    drive {
      usage {
        ...Usage
      }
      root {
        entries(first: $first, after: $after) {
          edges {
            node {
              ...EntryLine
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
    workspaces(first: 10) {
      edges {
        node {
          id
          name
          role
        }
      }
    }
  }
}
    fragment Usage on DriveUsage {
  usedBytes
  fileCount
  maxBytes
  maxFiles
}
fragment EntryLine on Entry {
  id
  path
  size
  createdAt
  ... on File {
    md5
  }
}`) as unknown as TypedDocumentString<HomeQuery, HomeQueryVariables>;
export const ReceivedDocument = new TypedDocumentString(`
    query Received {
  me {
    unseenShareCount
    receivedShares(first: 50) {
      edges {
        node {
          ...ShareLine
        }
      }
    }
  }
}
    fragment ShareLine on DirectShare {
  token
  fileName
  size
  sharedBy {
    email
  }
  seen
}`) as unknown as TypedDocumentString<ReceivedQuery, ReceivedQueryVariables>;
export const FindDocument = new TypedDocumentString(`
    query Find($id: ID!) {
  node(id: $id) {
    __typename
    ...EntryLine
    ...ShareLine
  }
}
    fragment EntryLine on Entry {
  id
  path
  size
  createdAt
  ... on File {
    md5
  }
}
fragment ShareLine on DirectShare {
  token
  fileName
  size
  sharedBy {
    email
  }
  seen
}`) as unknown as TypedDocumentString<FindQuery, FindQueryVariables>;
export const UploadDocument = new TypedDocumentString(`
    mutation Upload($input: UploadFileInput!) {
  uploadFile(input: $input) {
    file {
      ...EntryLine
    }
  }
}
    fragment EntryLine on Entry {
  id
  path
  size
  createdAt
  ... on File {
    md5
  }
}`) as unknown as TypedDocumentString<UploadMutation, UploadMutationVariables>;
export const ShareDocument = new TypedDocumentString(`
    mutation Share($input: CreateDirectShareInput!) {
  createDirectShare(input: $input) {
    shares {
      token
      url
      expiresAt
    }
    mail
  }
}
    `) as unknown as TypedDocumentString<ShareMutation, ShareMutationVariables>;
export const OpenDocument = new TypedDocumentString(`
    mutation Open($token: String!, $password: String) {
  openShare(input: {token: $token, password: $password}) {
    download {
      url
      fileName
    }
  }
}
    `) as unknown as TypedDocumentString<OpenMutation, OpenMutationVariables>;
export const ShareReceivedDocument = new TypedDocumentString(`
    subscription ShareReceived {
  shareReceived {
    ...ShareLine
  }
}
    fragment ShareLine on DirectShare {
  token
  fileName
  size
  sharedBy {
    email
  }
  seen
}`) as unknown as TypedDocumentString<ShareReceivedSubscription, ShareReceivedSubscriptionVariables>;
export const UsageChangedDocument = new TypedDocumentString(`
    subscription UsageChanged {
  driveChanged {
    usage {
      ...Usage
    }
  }
}
    fragment Usage on DriveUsage {
  usedBytes
  fileCount
  maxBytes
  maxFiles
}`) as unknown as TypedDocumentString<UsageChangedSubscription, UsageChangedSubscriptionVariables>;