import { graphql } from '../graphql/graphql.ts'

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

/** Folders alone, for the picker. */
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
