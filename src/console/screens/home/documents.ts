import { graphql, type ResultOf } from '../../graphql/graphql.ts'

/** Recent files, received shares and things that need attention. */
export const HOME = graphql(`
  query Home {
    me {
      id
      drive {
        id
        usage {
          isOver
        }
      }
      recent(first: 100) {
        pageInfo {
          hasNextPage
        }
        nodes {
          kind
          happenedAt
          entry {
            __typename
            id
            name
            path
            drive {
              id
              owner {
                __typename
                ... on Person {
                  id
                }
                ... on Workspace {
                  id
                  slug
                  name
                }
              }
            }
            ... on File {
              contentType
              preview {
                small: url(size: SMALL)
              }
            }
          }
        }
      }
      receivedShares(first: 6, newestFirst: true) {
        nodes {
          id
          fileName
          entryKind
          contentType
          thumbnail
          createdAt
          seen
          sharedBy {
            id
            name
            email
          }
        }
      }
      invites(first: 20) {
        nodes {
          id
          workspaceName
        }
      }
      shares(first: 200, newestFirst: true) {
        nodes {
          __typename
          id
          fileName
          expiresAt
        }
      }
      apiKeys(first: 100) {
        nodes {
          id
          name
          expiresAt
        }
      }
      fileRequests(first: 100) {
        nodes {
          id
          label
          receipts(first: 1, newestFirst: true) {
            nodes {
              receivedAt
            }
          }
        }
      }
      webhooks {
        id
        url
        state
        firstFailedAt
      }
    }
  }
`)

export type HomeData = ResultOf<typeof HOME>['me']
