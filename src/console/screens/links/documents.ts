import { graphql } from '../../graphql/graphql.ts'
import { SHARE } from '../../sharing/documents.ts'

/** The person's own shares, newest first. */
export const MY_SHARES = graphql(
  `
    query MyShares(
      $kind: ShareKind
      $ended: Boolean!
      $search: String
      $recipient: String
      $first: Int!
      $after: String
    ) {
      me {
        id
        shares(
          first: $first
          after: $after
          kind: $kind
          ended: $ended
          search: $search
          recipient: $recipient
          newestFirst: true
        ) {
          nodes {
            ...ShareLine
            entry {
              __typename
              id
              name
              path
              drive {
                id
                owner {
                  __typename
                  ... on Workspace {
                    id
                    slug
                  }
                }
              }
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [SHARE],
)
