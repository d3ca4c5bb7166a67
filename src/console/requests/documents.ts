import { graphql, type ResultOf } from '../graphql/graphql.ts'

const RECEIPT = graphql(`
  fragment Receipt on FileRequestReceipt {
    fileName
    size
    receivedAt
    senderName
    network
    client
  }
`)

export type Receipt = ResultOf<typeof RECEIPT>

/** The fields of a file request that its row shows and its form edits. */
export const FILE_REQUEST = graphql(
  `
  fragment FileRequestLine on FileRequest {
    __typename
    id
    url
    label
    message
    state
    path
    createdAt
    expiresAt
    passwordProtected
    asksName
    expected
    senderPlace
    senders {
      name
      isExpected
      fileCount
      lastReceivedAt
    }
    receipts(first: 5, newestFirst: true) {
      nodes {
        ...Receipt
      }
    }
    notifies
    maxFiles
    maxFileSize
    maxBytes
    kinds
    fileCount
    size
    folder {
      id
      drive {
        id
        owner {
          __typename
          ... on Person {
            id
          }
          ... on Workspace {
            id
            name
            slug
          }
        }
      }
    }
  }
`,
  [RECEIPT],
)

export type FileRequest = ResultOf<typeof FILE_REQUEST>

/** The person's open file requests, newest first. */
export const MY_REQUESTS = graphql(
  `
    query MyRequests($after: String) {
      me {
        id
        drive {
          id
        }
        fileRequests(first: 20, after: $after, newestFirst: true) {
          nodes {
            ...FileRequestLine
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [FILE_REQUEST],
)

export const CREATE_REQUEST = graphql(
  `
    mutation CreateFileRequest($input: CreateFileRequestInput!) {
      createFileRequest(input: $input) {
        fileRequest {
          ...FileRequestLine
        }
      }
    }
  `,
  [FILE_REQUEST],
)

export const UPDATE_REQUEST = graphql(
  `
    mutation UpdateFileRequest($input: UpdateFileRequestInput!) {
      updateFileRequest(input: $input) {
        fileRequest {
          ...FileRequestLine
        }
      }
    }
  `,
  [FILE_REQUEST],
)

export const CLOSE_REQUEST = graphql(
  `
    mutation CloseFileRequest($input: CloseFileRequestInput!) {
      closeFileRequest(input: $input) {
        fileRequest {
          ...FileRequestLine
        }
      }
    }
  `,
  [FILE_REQUEST],
)

/** The files that a file request has received, newest first. */
export const RECEIPTS = graphql(
  `
  query Receipts($id: ID!, $first: Int!, $after: String) {
    node(id: $id) {
      __typename
      id
      ... on FileRequest {
        receipts(first: $first, after: $after, newestFirst: true) {
          nodes {
            ...Receipt
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
`,
  [RECEIPT],
)
