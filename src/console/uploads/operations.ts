import { graphql } from '../graphql/graphql.ts'

/** The fields of a new file that lists show. */
const NEW_FILE = graphql(`
  fragment NewFile on File {
    __typename
    id
    name
    path
    size
    md5
    revision
    contentType
    createdAt
    updatedAt
    shareCount
    isFavourite
    tags {
      id
      name
      colour
    }
    parent {
      id
    }
  }
`)

/** The parent folders whose size changes, up to the usual depth of an uploaded folder. */
const GROWN = graphql(`
  fragment Grown on Folder {
    id
    size
    fileCount
    parent {
      id
      size
      fileCount
      parent {
        id
        size
        fileCount
        parent {
          id
          size
          fileCount
        }
      }
    }
  }
`)

export const START = graphql(`
  mutation StartUpload($input: StartUploadInput!) {
    startUpload(input: $input) {
      uploadSession {
        id
        chunkSize
        partCount
        expiresAt
      }
    }
  }
`)

export const RECEIVED = graphql(`
  query ReceivedParts($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on UploadSession {
        received
      }
    }
  }
`)

export const PART = graphql(`
  mutation SendPart($input: UploadPartInput!) {
    uploadPart(input: $input) {
      crc32
    }
  }
`)

/**
 * The result of a completion. With `isShared`, it omits fields that only members of the drive may
 * read. The same applies to the other operations here.
 */
export const OUTCOME = graphql(
  `
  fragment UploadOutcome on UploadSession {
    id
    completion {
      state
      checked
      failure {
        code
        message
        missing
      }
      md5
      file {
        __typename
        id
        name
        ...NewFile @skip(if: $isShared)
        parent @skip(if: $isShared) {
          ...Grown
        }
      }
    }
    drive @skip(if: $isShared) {
      id
      usage {
        usedBytes
      }
    }
  }
`,
  [NEW_FILE, GROWN],
)

export const COMPLETE = graphql(
  `
  mutation BeginCompletion($input: BeginCompletionInput!, $isShared: Boolean!) {
    beginCompletion(input: $input) {
      uploadSession {
        ...UploadOutcome
      }
    }
  }
`,
  [OUTCOME],
)

export const COMPLETION = graphql(
  `
  query UploadOutcome($id: ID!, $isShared: Boolean!) {
    node(id: $id) {
      __typename
      id
      ...UploadOutcome
    }
  }
`,
  [OUTCOME],
)

export const WHOLE = graphql(
  `
  mutation UploadFile($input: UploadFileInput!, $isShared: Boolean!) {
    uploadFile(input: $input) {
      file {
        __typename
        id
        name
        md5
        revision
        ...NewFile @skip(if: $isShared)
      }
      folder @skip(if: $isShared) {
        ...Grown
      }
      drive @skip(if: $isShared) {
        id
        usage {
          usedBytes
        }
      }
    }
  }
`,
  [NEW_FILE, GROWN],
)

export const ABORT = graphql(`
  mutation AbortUpload($input: AbortUploadInput!) {
    abortUpload(input: $input) {
      abortedId
    }
  }
`)

export const FIND = graphql(`
  query FindUploaded($drive: ID!, $path: String!) {
    node(id: $drive) {
      __typename
      id
      ... on Drive {
        entry(path: $path) {
          __typename
          id
          ... on File {
            size
            md5
          }
        }
      }
    }
  }
`)

export const REMOVE = graphql(`
  mutation RemoveUploaded($input: DeleteEntriesInput!) {
    deleteEntries(input: $input) {
      deletedIds
    }
  }
`)

/** Creates a folder and its missing parents. */
export const MAKE_FOLDER = graphql(`
  mutation MakeUploadFolder($input: CreateFolderInput!, $isShared: Boolean!) {
    createFolder(input: $input) {
      folder {
        __typename
        id
        name
        path
        size
        fileCount
        createdAt
        updatedAt
        parent @skip(if: $isShared) {
          id
        }
      }
    }
  }
`)

/** The free space of a drive. */
export const ROOM = graphql(`
  query RoomForUploads($drive: ID!) {
    node(id: $drive) {
      __typename
      id
      ... on Drive {
        usage {
          usedBytes
          maxBytes
          maxFileSize
        }
      }
    }
  }
`)
