import { COPY_STATE } from '../../../drive/documents.ts'
import { graphql } from '../../../graphql/graphql.ts'
import { ENTRY } from '../documents.ts'

/**
 * With `isShared`, the result omits fields that only members of the drive may read. The same
 * applies to the other operations here.
 */
export const MOVE = graphql(
  `
    mutation Move($input: MoveEntriesInput!, $isShared: Boolean!) {
      moveEntries(input: $input) {
        entries {
          __typename
          id
          ...EntryLine @skip(if: $isShared)
        }
        from @skip(if: $isShared) {
          id
          fileCount
          size
        }
        to @skip(if: $isShared) {
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
    mutation CreateFolder($input: CreateFolderInput!, $isShared: Boolean!) {
      createFolder(input: $input) {
        folder {
          __typename
          id
          ...EntryLine @skip(if: $isShared)
        }
      }
    }
  `,
  [ENTRY],
)

export const DELETE = graphql(`
  mutation Delete($input: DeleteEntriesInput!, $isShared: Boolean!) {
    deleteEntries(input: $input) {
      deletedIds
      trashItems @skip(if: $isShared) {
        id
      }
      folders @skip(if: $isShared) {
        id
        fileCount
        size
      }
      drive @skip(if: $isShared) {
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

/** When pictures were taken. Videos, and pictures that do not record it, have `modifiedAt` only. */
export const TAKEN = graphql(`
  query Taken($ids: [ID!]!) {
    nodes(ids: $ids) {
      __typename
      id
      ... on File {
        modifiedAt
        preview {
          takenAt
        }
      }
    }
  }
`)

/** The maximum number of entries in one archive request. */
export const MAX_ZIPPED = 200

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
