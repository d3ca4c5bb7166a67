import { COPY_STATE } from '../../../drive/documents.ts'
import { graphql } from '../../../graphql/graphql.ts'
import { ENTRY } from '../documents.ts'

export const MOVE = graphql(
  `
    mutation Move($input: MoveEntriesInput!) {
      moveEntries(input: $input) {
        entries {
          ...EntryLine
        }
        from {
          id
          fileCount
          size
        }
        to {
          id
          path
          fileCount
          size
        }
      }
    }
  `,
  [ENTRY],
)

export const COPY = graphql(
  `
    mutation Copy($input: CopyEntriesInput!) {
      copyEntries(input: $input) {
        entries {
          ...EntryLine
        }
        copy {
          ...CopyState
        }
        to {
          id
          path
          fileCount
          size
        }
        drive {
          id
          usage {
            usedBytes
            fileCount
            folderCount
          }
        }
      }
    }
  `,
  [ENTRY, COPY_STATE],
)

export const CREATE_FOLDER = graphql(
  `
    mutation CreateFolder($input: CreateFolderInput!) {
      createFolder(input: $input) {
        folder {
          ...EntryLine
        }
      }
    }
  `,
  [ENTRY],
)

export const DELETE = graphql(`
  mutation Delete($input: DeleteEntriesInput!) {
    deleteEntries(input: $input) {
      deletedIds
      trashItems {
        id
      }
      folders {
        id
        fileCount
        size
      }
      drive {
        id
        usage {
          usedBytes
          fileCount
          folderCount
        }
      }
    }
  }
`)

/** A signed URL of an archive. */
export const ZIP = graphql(`
  mutation Zip($input: ZipEntriesInput!) {
    zipEntries(input: $input) {
      download {
        url
        fileName
      }
    }
  }
`)

/** A signed URL of a file. */
export const DOWNLOAD = graphql(`
  query Download($id: ID!, $disposition: Disposition!) {
    node(id: $id) {
      __typename
      id
      ... on File {
        download(disposition: $disposition) {
          url
          fileName
        }
      }
    }
  }
`)
