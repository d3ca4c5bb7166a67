import { graphql, type ResultOf } from '../graphql/graphql.ts'

/** What a line shows of a share, to whom has made it. */
export const SHARE = graphql(`
  fragment ShareLine on Share {
    __typename
    id
    url
    fileName
    contentType
    createdAt
    expiresAt
    passwordProtected
    downloads
    maxDownloads
    events(first: 1, newestFirst: true) {
      nodes {
        kind
        happenedAt
      }
    }
    ... on DirectShare {
      recipient
      seen
    }
  }
`)

export type Share = ResultOf<typeof SHARE>

/** A file with its live shares. */
const SHARED = graphql(
  `
    fragment SharedFile on File {
      __typename
      id
      shareCount
      shares(first: 100) {
        nodes {
          ...ShareLine
        }
      }
    }
  `,
  [SHARE],
)

export const SHARES_OF = graphql(
  `
    query SharesOf($id: ID!) {
      node(id: $id) {
        __typename
        ...SharedFile
      }
    }
  `,
  [SHARED],
)

export const CREATE_LINK = graphql(
  `
    mutation CreateLink($input: CreateLinkInput!) {
      createLink(input: $input) {
        share {
          ...ShareLine
        }
        file {
          ...SharedFile
        }
      }
    }
  `,
  [SHARE, SHARED],
)

export const SHARE_FILES = graphql(
  `
    mutation ShareFiles($input: ShareFilesInput!) {
      shareFiles(input: $input) {
        mail
        shares {
          ...ShareLine
          file {
            ...SharedFile
          }
        }
      }
    }
  `,
  [SHARE, SHARED],
)

export const REVOKE = graphql(
  `
    mutation RevokeShare($input: RevokeShareInput!) {
      revokeShare(input: $input) {
        revokedId
        file {
          ...SharedFile
        }
      }
    }
  `,
  [SHARED],
)

/** How a share was used. */
export const USES = graphql(`
  query UsesOf($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Share {
        events(first: 100, newestFirst: true) {
          nodes {
            kind
            happenedAt
            client
            network
            person {
              id
              name
              email
            }
          }
          pageInfo {
            hasNextPage
          }
        }
      }
    }
  }
`)
