import { graphql, type ResultOf } from '../../../graphql/graphql.ts'

export const GRANTS = graphql(`
  query Grants($filter: GrantFilter, $first: Int!, $after: String) {
    operator {
      grants(filter: $filter, first: $first, after: $after) {
        nodes {
          id
          kind
          sharer {
            id
            name
            email
          }
          recipient
          name
          isFolder
          workspaceId
          workspaceName
          createdAt
          expiresAt
          passwordProtected
          mayEdit
          useCount
          maxUses
          isPaused
          brokenRules
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`)

export const END_GRANTS = graphql(`
  mutation OperatorEndGrants($input: OperatorEndGrantsInput!) {
    operatorEndGrants(input: $input) {
      endedIds
    }
  }
`)

export type Grant = ResultOf<typeof GRANTS>['operator']['grants']['nodes'][number]
