import { graphql, type ResultOf } from '../../graphql/graphql.ts'

const RECEIVED_SHARE = graphql(`
  fragment ReceivedShare on DirectShare {
    id
    token
    url
    fileName
    contentType
    size
    createdAt
    expiresAt
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
