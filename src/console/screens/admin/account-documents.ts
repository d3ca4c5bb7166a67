import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { APPLIED_LIMIT } from './limits.tsx'

export const ACCOUNT = graphql(
  `
  fragment AccountDetails on Account {
    id
    name
    email
    emailVerified
    status
    createdAt
    sessionCount
    apiKeyCount
    shareCount
    plan {
      id
      name
    }
    planBy
    limits {
      ...LimitInForce
    }
    usage {
      usedBytes
      keptBytes
      maxBytes
      isOver
      fileCount
      folderCount
    }
    identities {
      provider
      email
    }
    workspaces {
      workspaceId
      name
      role
      limits {
        ...LimitInForce
      }
    }
    operator {
      bySetting
    }
    person {
      id
    }
  }
`,
  [APPLIED_LIMIT],
)

export const ONE = graphql(
  `
    query OneAccount($id: ID!) {
      me {
        id
        person {
          id
        }
      }
      operator {
        plans {
          retiredAt
          plan {
            id
            name
          }
        }
      }
      node(id: $id) {
        __typename
        id
        ... on Account {
          ...AccountDetails
        }
      }
    }
  `,
  [ACCOUNT],
)

export const UPDATE = graphql(
  `
    mutation UpdateAccount($input: OperatorUpdateAccountInput!) {
      operatorUpdateAccount(input: $input) {
        account {
          ...AccountDetails
        }
      }
    }
  `,
  [ACCOUNT],
)

export const APPOINT = graphql(
  `
    mutation AppointOperator($input: OperatorAppointInput!) {
      operatorAppoint(input: $input) {
        account {
          ...AccountDetails
        }
      }
    }
  `,
  [ACCOUNT],
)

export const DISMISS = graphql(
  `
    mutation DismissOperator($input: OperatorDismissInput!) {
      operatorDismiss(input: $input) {
        account {
          ...AccountDetails
        }
      }
    }
  `,
  [ACCOUNT],
)

export type Details = ResultOf<typeof ACCOUNT>
