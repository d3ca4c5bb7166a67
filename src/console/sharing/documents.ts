import { graphql, type ResultOf } from '../graphql/graphql.ts'

/** What a line shows of a share, to whom has made it. */
export const SHARE = graphql(`
  fragment ShareLine on Share {
    __typename
    id
    url
    fileName
    contentType
    size
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

const SHARES = graphql(
  `
    fragment Shares on ShareConnection {
      nodes {
        ...ShareLine
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  `,
  [SHARE],
)

/** One page of the live shares of a file. */
export const SHARES_OF = graphql(
  `
    query SharesOf($id: ID!, $kind: ShareKind!, $first: Int!, $after: String) {
      node(id: $id) {
        __typename
        id
        ... on File {
          shares(kind: $kind, first: $first, after: $after, newestFirst: true) {
            ...Shares
          }
        }
      }
    }
  `,
  [SHARES],
)

export type SharesData = ResultOf<typeof SHARES_OF>

/** A file with the first pages of its live shares, with the arguments by which they were read: so the cache finds them. */
const SHARED = graphql(
  `
    fragment SharedFile on File {
      __typename
      id
      shareCount
      people: shares(kind: DIRECT, first: 100, newestFirst: true) {
        ...Shares
      }
      links: shares(kind: LINK, first: 100, newestFirst: true) {
        ...Shares
      }
    }
  `,
  [SHARES],
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
  query UsesOf($id: ID!, $first: Int!) {
    node(id: $id) {
      __typename
      id
      ... on Share {
        events(first: $first, newestFirst: true) {
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
