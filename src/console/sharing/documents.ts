import { graphql, type ResultOf } from '../graphql/graphql.ts'

/** The fields that a row shows to the owner of a share. */
export const SHARE = graphql(`
  fragment ShareLine on Share {
    __typename
    id
    url
    fileName
    firstName
    entryCount
    entryKind
    contentType
    size
    createdAt
    expiresAt
    passwordProtected
    downloads
    maxDownloads
    label
    title
    message
    allowDownload
    notifies
    events(first: 1, newestFirst: true) {
      nodes {
        kind
        happenedAt
      }
    }
    ... on DirectShare {
      recipient
      seen
      mayEdit
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

/** One page of the active shares of a file or folder. */
export const SHARES_OF = graphql(
  `
    query SharesOf($id: ID!, $kind: ShareKind!, $first: Int!, $after: String) {
      node(id: $id) {
        __typename
        id
        ... on Entry {
          shares(kind: $kind, first: $first, after: $after, newestFirst: true) {
            ...Shares
          }
        }
      }
    }
  `,
  [SHARES],
)

/** One page of the active shares that contain one of some entries. */
export const SHARES_AMONG = graphql(
  `
    query SharesAmong($entries: [ID!], $kind: ShareKind!, $first: Int!, $after: String) {
      me {
        id
        shares(entries: $entries, kind: $kind, first: $first, after: $after, newestFirst: true) {
          ...Shares
        }
      }
    }
  `,
  [SHARES],
)

export type SharesData = ResultOf<typeof SHARES_OF>

/**
 * A file or folder with its first page of active shares. The arguments must stay the same, so that
 * the cache finds the result.
 */
const SHARED = graphql(
  `
    fragment SharedEntry on Entry {
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
        entry {
          ...SharedEntry
        }
        entries {
          __typename
          id
          shareCount
        }
      }
    }
  `,
  [SHARE, SHARED],
)

export const SHARE_FILES = graphql(
  `
    mutation CreateDirectShare($input: CreateDirectShareInput!) {
      createDirectShare(input: $input) {
        mail
        shares {
          ...ShareLine
          entry {
            ...SharedEntry
          }
        }
        entries {
          __typename
          id
          shareCount
        }
      }
    }
  `,
  [SHARE, SHARED],
)

export const UPDATE_SHARE = graphql(
  `
    mutation UpdateShare($input: UpdateShareInput!) {
      updateShare(input: $input) {
        share {
          ...ShareLine
        }
        entry {
          ...SharedEntry
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
        entry {
          ...SharedEntry
        }
        entries {
          __typename
          id
          shareCount
        }
      }
    }
  `,
  [SHARED],
)

/** The entries of a share of several. */
export const ENTRIES_OF = graphql(`
  query EntriesOf($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Share {
        entries {
          __typename
          id
          name
          path
          size
          ... on File {
            contentType
          }
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
    }
  }
`)

/** How a share was used. */
export const USES = graphql(`
  query UsesOf($id: ID!, $first: Int!, $utcOffset: Int!) {
    node(id: $id) {
      __typename
      id
      ... on Share {
        usage {
          openCount
          downloadCount
        }
        dailyUsage(days: 30, utcOffset: $utcOffset) {
          startsAt
          openCount
          downloadCount
        }
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
