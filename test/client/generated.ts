// Made by test/client/generate.ts. UPDATE_CLIENT=1 npm test -- unit/client makes it again.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
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

export type UploadFileInput = {
  file: File;
  /** Path of the folder; missing ones are made. */
  folder?: string | null | undefined;
};

export type HomeQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type HomeQuery = { me: { email: string, usage: { usedBytes: number, fileCount: number, maxTotalStorageBytes: number, maxFiles: number | null }, rootFolder: { files: { edges: Array<{ node: { id: string, path: string, size: number, md5Checksum: string, createdAt: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }, workspaces: { edges: Array<{ node: { id: string, name: string, role: string } }> } | null } };

export type ReceivedQueryVariables = Exact<{ [key: string]: never; }>;


export type ReceivedQuery = { me: { unseenShareCount: number, receivedShares: { edges: Array<{ node: { sharingToken: string, fileName: string, size: number, sharedBy: string, seen: boolean } }> } } };

export type FindQueryVariables = Exact<{
  id: string | number;
}>;


export type FindQuery = { node:
    | { __typename: 'File', id: string, path: string, size: number, md5Checksum: string, createdAt: string }
    | { __typename: 'Folder', path: string }
    | { __typename: 'Share', sharingToken: string, fileName: string, size: number, sharedBy: string, seen: boolean }
    | { __typename: 'Workspace' }
    | { __typename: 'WorkspaceFile' }
    | { __typename: 'WorkspaceFolder' }
   | null };

export type UploadMutationVariables = Exact<{
  input: UploadFileInput;
}>;


export type UploadMutation = { uploadFile: { id: string, path: string, size: number, md5Checksum: string, createdAt: string } };

export type ShareMutationVariables = Exact<{
  input: ShareFilesInput;
}>;


export type ShareMutation = { shareFiles: { notificationStatus: string, sharingInfo: Array<{ sharingToken: string, sharingLink: string, expiresAt: string }> } };

export type OpenMutationVariables = Exact<{
  token: string;
  password?: string | null | undefined;
}>;


export type OpenMutation = { resolveShare: { url: string, fileName: string } };

export type ShareReceivedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type ShareReceivedSubscription = { shareReceived: { sharingToken: string, fileName: string, size: number, sharedBy: string, seen: boolean } };

export type UsageChangedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type UsageChangedSubscription = { bucketChanged: { usedBytes: number, fileCount: number, maxTotalStorageBytes: number, maxFiles: number | null } };

export type UsageFragment = { usedBytes: number, fileCount: number, maxTotalStorageBytes: number, maxFiles: number | null };

export type FileLineFragment = { id: string, path: string, size: number, md5Checksum: string, createdAt: string };

export type ShareLineFragment = { sharingToken: string, fileName: string, size: number, sharedBy: string, seen: boolean };

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
    fragment Usage on BucketUsage {
  usedBytes
  fileCount
  maxTotalStorageBytes
  maxFiles
}
    `, {"fragmentName":"Usage"}) as unknown as TypedDocumentString<UsageFragment, unknown>;
export const FileLineFragmentDoc = new TypedDocumentString(`
    fragment FileLine on File {
  id
  path
  size
  md5Checksum
  createdAt
}
    `, {"fragmentName":"FileLine"}) as unknown as TypedDocumentString<FileLineFragment, unknown>;
export const ShareLineFragmentDoc = new TypedDocumentString(`
    fragment ShareLine on Share {
  sharingToken
  fileName
  size
  sharedBy
  seen
}
    `, {"fragmentName":"ShareLine"}) as unknown as TypedDocumentString<ShareLineFragment, unknown>;
export const HomeDocument = new TypedDocumentString(`
    query Home($first: Int!, $after: String) {
  me {
    email
    usage {
      ...Usage
    }
    rootFolder {
      files(first: $first, after: $after) {
        edges {
          node {
            ...FileLine
          }
        }
        pageInfo {
          hasNextPage
          endCursor
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
    fragment Usage on BucketUsage {
  usedBytes
  fileCount
  maxTotalStorageBytes
  maxFiles
}
fragment FileLine on File {
  id
  path
  size
  md5Checksum
  createdAt
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
    fragment ShareLine on Share {
  sharingToken
  fileName
  size
  sharedBy
  seen
}`) as unknown as TypedDocumentString<ReceivedQuery, ReceivedQueryVariables>;
export const FindDocument = new TypedDocumentString(`
    query Find($id: ID!) {
  node(id: $id) {
    __typename
    ...FileLine
    ...ShareLine
    ... on Folder {
      path
    }
  }
}
    fragment FileLine on File {
  id
  path
  size
  md5Checksum
  createdAt
}
fragment ShareLine on Share {
  sharingToken
  fileName
  size
  sharedBy
  seen
}`) as unknown as TypedDocumentString<FindQuery, FindQueryVariables>;
export const UploadDocument = new TypedDocumentString(`
    mutation Upload($input: UploadFileInput!) {
  uploadFile(input: $input) {
    ...FileLine
  }
}
    fragment FileLine on File {
  id
  path
  size
  md5Checksum
  createdAt
}`) as unknown as TypedDocumentString<UploadMutation, UploadMutationVariables>;
export const ShareDocument = new TypedDocumentString(`
    mutation Share($input: ShareFilesInput!) {
  shareFiles(input: $input) {
    sharingInfo {
      sharingToken
      sharingLink
      expiresAt
    }
    notificationStatus
  }
}
    `) as unknown as TypedDocumentString<ShareMutation, ShareMutationVariables>;
export const OpenDocument = new TypedDocumentString(`
    mutation Open($token: String!, $password: String) {
  resolveShare(input: {token: $token, password: $password}) {
    url
    fileName
  }
}
    `) as unknown as TypedDocumentString<OpenMutation, OpenMutationVariables>;
export const ShareReceivedDocument = new TypedDocumentString(`
    subscription ShareReceived {
  shareReceived {
    ...ShareLine
  }
}
    fragment ShareLine on Share {
  sharingToken
  fileName
  size
  sharedBy
  seen
}`) as unknown as TypedDocumentString<ShareReceivedSubscription, ShareReceivedSubscriptionVariables>;
export const UsageChangedDocument = new TypedDocumentString(`
    subscription UsageChanged {
  bucketChanged {
    ...Usage
  }
}
    fragment Usage on BucketUsage {
  usedBytes
  fileCount
  maxTotalStorageBytes
  maxFiles
}`) as unknown as TypedDocumentString<UsageChangedSubscription, UsageChangedSubscriptionVariables>;