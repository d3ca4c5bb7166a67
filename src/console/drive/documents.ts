import { graphql, type ResultOf } from '../graphql/graphql.ts'

export const RESTORE = graphql(`
  mutation Restore($input: RestoreFromTrashInput!) {
    restoreFromTrash(input: $input) {
      removedIds
      entries {
        __typename
        id
        path
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

/** Subfolders only, for the folder picker. */
export const SUBFOLDERS = graphql(`
  query Subfolders($drive: ID!, $path: String!) {
    node(id: $drive) {
      __typename
      id
      ... on Drive {
        entry(path: $path) {
          __typename
          id
          path
          ... on Folder {
            entries(first: 500, filter: { kind: FOLDER }) {
              nodes {
                __typename
                id
                name
                path
              }
            }
          }
        }
      }
    }
  }
`)

/** The drives that the person may write to. */
export const WRITABLE_DRIVES = graphql(`
  query WritableDrives {
    me {
      id
      drive {
        id
      }
      workspaces(first: 1000) {
        nodes {
          id
          name
          drive {
            id
            permissions
          }
        }
      }
    }
  }
`)

/** Deletes copies (undo). */
export const REMOVE_COPIES = graphql(`
  mutation RemoveCopies($input: DeleteEntriesInput!) {
    deleteEntries(input: $input) {
      deletedIds
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

/** The progress of a background copy. */
export const COPY_STATE = graphql(`
  fragment CopyState on BackgroundCopy {
    id
    state
    entryCount
    copiedCount
    failure {
      message
    }
    entries {
      __typename
      id
      name
    }
  }
`)

export type CopyState = ResultOf<typeof COPY_STATE>

export const COPY_NOW = graphql(
  `
    query CopyNow($id: ID!) {
      node(id: $id) {
        __typename
        id
        ...CopyState
      }
    }
  `,
  [COPY_STATE],
)

export const CANCEL_COPY = graphql(`
  mutation CancelCopy($input: CancelCopyInput!) {
    cancelCopy(input: $input) {
      copy {
        id
        state
      }
    }
  }
`)
