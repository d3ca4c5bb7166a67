import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { ENTRY } from '../screens/files/documents.ts'

/** A page of search results from all drives and received shares. */
export const SEARCH = graphql(
  `
    query Search($query: String!, $order: SearchOrder!, $first: Int!, $after: String) {
      search(query: $query, orderBy: $order, first: $first, after: $after) {
        edges {
          matchedIn
          snippet {
            text
            ranges {
              start
              end
            }
          }
          node {
            kind
            name
            path
            size
            contentType
            updatedAt
            entry {
              ...EntryLine
              createdBy {
                id
                name
              }
              drive {
                id
                permissions
                trashDays
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
            }
            share {
              id
              token
              url
              entryKind
              firstName
              fileName
              allowDownload
              mayEdit
              sharedBy {
                id
                name
                email
              }
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
        hints {
          term
          message
        }
        isComplete
      }
    }
  `,
  [ENTRY],
)

export type SearchData = ResultOf<typeof SEARCH>['search']
export type Found = SearchData['edges'][number]
export type Snippet = NonNullable<Found['snippet']>
