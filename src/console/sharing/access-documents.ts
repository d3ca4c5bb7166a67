import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { SHARE } from './documents.ts'

const ACCESS = graphql(
  `
    fragment Access on PersonAccess {
      __typename
      email
      shares(first: 100) {
        nodes {
          ...ShareLine
        }
        pageInfo {
          hasNextPage
        }
      }
      receivedShares(first: 100) {
        nodes {
          ...ShareLine
        }
        pageInfo {
          hasNextPage
        }
      }
      members {
        id
        role
        isRemovable
        workspace {
          id
          name
        }
      }
    }
  `,
  [SHARE],
)

export type PersonAccess = ResultOf<typeof ACCESS>

/** What the owner of an e-mail address can see because of the signed-in person. */
export const ACCESS_OF = graphql(
  `
    query AccessOf($email: String!) {
      me {
        id
        accessOf(email: $email) {
          ...Access
        }
      }
    }
  `,
  [ACCESS],
)

export const END_ACCESS = graphql(
  `
    mutation EndAccess($input: EndAccessInput!) {
      endAccess(input: $input) {
        revokedIds
        removedCount
        access {
          ...Access
        }
      }
    }
  `,
  [ACCESS],
)

/** The e-mail addresses with which the person shares. */
export const RECIPIENTS = graphql(`
  query ShareRecipients {
    me {
      id
      shareRecipients {
        email
        shareCount
      }
    }
  }
`)

export const REVOKE_SHARES = graphql(`
  mutation RevokeShares($input: RevokeSharesInput!) {
    revokeShares(input: $input) {
      revokedIds
    }
  }
`)
