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
    thumbnail
    size
    createdAt
    expiresAt
    allowDownload
    passwordProtected
    mayEdit
    isFavourite
    seen
    sharedBy {
      id
      name
      email
    }
  }
`)

export type ReceivedShare = ResultOf<typeof RECEIVED_SHARE>

/** Shares received from others, newest first. */
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

/** One received share. */
export const RECEIVED_ONE = graphql(
  `
    query ReceivedOne($id: ID!) {
      me {
        id
        drive {
          id
        }
      }
      node(id: $id) {
        __typename
        id
        ... on DirectShare {
          ...ReceivedShare
        }
      }
    }
  `,
  [RECEIVED_SHARE],
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
