import { graphql } from '../../../graphql/graphql.ts'
import { LOCKED } from '../../../locks/documents.ts'
import { VERSIONED } from '../../../versions/documents.ts'
import { ENTRY } from '../documents.ts'

/** The fields that the details panel shows. */
export const DETAILS = graphql(
  `
    query EntryDetails($id: ID!) {
      node(id: $id) {
        __typename
        ... on Entry {
          ...EntryLine
          ...LockedEntry
          createdBy {
            id
            name
            email
          }
        }
        ... on Entry {
          drive {
            id
          }
        }
        ... on File {
          note
          sentBy
          ...VersionedFile
        }
      }
    }
  `,
  [ENTRY, VERSIONED, LOCKED],
)

export const WRITE_NOTE = graphql(`
  mutation WriteNote($input: WriteNoteInput!) {
    writeNote(input: $input) {
      file {
        id
        note
      }
    }
  }
`)
