import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { COPY_STATE } from './documents.ts'
import { idInShare } from './place.ts'

const SHARED_ENTRY = graphql(`
  fragment SharedLine on SharedEntry {
    kind
    name
    path
    size
    contentType
    md5
    revision
    updatedAt
    thumbnail
  }
`)

export type SharedLine = ResultOf<typeof SHARED_ENTRY>

/** One page of a shared folder, or of a search by name in it. */
export const SHARED_FOLDER = graphql(
  `
    query SharedFolder(
      $token: String!
      $path: String!
      $query: String
      $order: EntryOrder!
      $first: Int!
      $after: String
    ) {
      sharedFolder(token: $token, path: $path, query: $query, orderBy: $order, first: $first, after: $after) {
        path
        endCursor
        entries {
          ...SharedLine
        }
      }
    }
  `,
  [SHARED_ENTRY],
)

export type SharedFolderData = ResultOf<typeof SHARED_FOLDER>

/** Variables for the first page of a shared folder, folders first. */
export const firstOfShare = (path: string) => ({
  path,
  query: null,
  order: { field: 'NAME' as const, direction: 'ASC' as const },
  first: 1000,
  after: null,
})

/** A shared entry as a list item. Its path serves as its id. */
export function entryOf({
  kind,
  path,
  contentType,
  thumbnail,
  md5: _md5,
  revision: _revision,
  ...line
}: SharedLine) {
  const id = idInShare(path)
  const entry = {
    ...line,
    id,
    path,
    createdAt: line.updatedAt,
    shareCount: null,
    isFavourite: false,
    tags: [],
  }
  return kind === 'FOLDER'
    ? { ...entry, __typename: 'Folder' as const, fileCount: 0 }
    : {
        ...entry,
        __typename: 'File' as const,
        contentType: contentType ?? '',
        ...(thumbnail && { thumbnail }),
      }
}

/** Creates a signed URL for a share or for some of its entries. */
export const OPEN_SHARE = graphql(`
  mutation OpenShare($input: OpenShareInput!) {
    openShare(input: $input) {
      download {
        url
        fileName
      }
    }
  }
`)

/** Copies a share, or some of its entries, into a drive of the person. */
export const SAVE_SHARED = graphql(
  `
    mutation SaveShared($input: SaveSharedEntriesInput!) {
      saveSharedEntries(input: $input) {
        entries {
          __typename
          id
          name
        }
        copy {
          ...CopyState
        }
        to {
          id
          fileCount
          size
        }
        drive {
          id
          usage {
            usedBytes
            fileCount
            folderCount
          }
        }
      }
    }
  `,
  [COPY_STATE],
)
