import { COPY_STATE } from '../../drive/documents.ts'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'

const RECEIVED_SHARE = graphql(`
  fragment ReceivedShare on DirectShare {
    id
    token
    url
    fileName
    firstName
    entryCount
    entryKind
    contentType
    size
    createdAt
    expiresAt
    allowDownload
    passwordProtected
    seen
    sharedBy {
      id
      name
      email
    }
  }
`)

export type ReceivedShare = ResultOf<typeof RECEIVED_SHARE>

/** What others have shared with the person, the last first. */
export const RECEIVED = graphql(
  `
    query Received($seen: Boolean, $after: String) {
      me {
        id
        drive {
          id
        }
        receivedShares(first: 50, after: $after, seen: $seen, newestFirst: true) {
          nodes {
            ...ReceivedShare
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [RECEIVED_SHARE],
)

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

/** Copies what is shared into the own drive. */
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

export const MARK_SEEN = graphql(`
  mutation MarkShareSeen($input: MarkShareSeenInput!) {
    markShareSeen(input: $input) {
      share {
        id
        seen
      }
      viewer {
        id
        unseenShareCount
      }
    }
  }
`)
