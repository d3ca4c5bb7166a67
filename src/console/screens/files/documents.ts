import { graphql, type ResultOf } from '../../graphql/graphql.ts'

/** The fields that a row of the list shows. */
export const ENTRY = graphql(`
  fragment EntryLine on Entry {
    __typename
    id
    name
    path
    size
    createdAt
    updatedAt
    shareCount
    isFavourite
    tags {
      id
      name
      colour
    }
    ... on File {
      contentType
    }
    ... on Folder {
      fileCount
    }
  }
`)

export type Entry = ResultOf<typeof ENTRY>

/** Whether these are a single file, which downloads as it is. Anything else becomes a ZIP. */
export const isOneFile = ([first, ...more]: readonly Entry[]): boolean =>
  first?.__typename === 'File' && more.length === 0
export type FileEntry = Extract<Entry, { __typename: 'File' }>

const PAGE = graphql(
  `
    fragment EntryPage on EntryConnection {
      nodes {
        ...EntryLine
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  `,
  [ENTRY],
)

const DRIVE = graphql(
  `
    fragment FolderOfDrive on Drive {
      id
      permissions
      trashDays
      entry(path: $path) {
        __typename
        id
        name
        path
        size
        ... on Folder {
          fileCount
          entries(first: $first, after: $after, orderBy: $order, filter: $filter) {
            ...EntryPage
          }
        }
      }
    }
  `,
  [PAGE],
)

/** One page of a folder. */
export const FOLDER = graphql(
  `
    query Folder(
      $own: Boolean!
      $slug: String
      $path: String!
      $first: Int!
      $after: String
      $order: EntryOrder!
      $filter: EntryFilter
    ) {
      me @include(if: $own) {
        id
        drive {
          ...FolderOfDrive
        }
      }
      workspace(slug: $slug) @skip(if: $own) {
        id
        slug
        name
        drive {
          ...FolderOfDrive
        }
      }
    }
  `,
  [DRIVE],
)

export type FolderData = ResultOf<typeof FOLDER>
