import { graphql, type ResultOf } from '../graphql/graphql.ts'

export const TAG = graphql(`
  fragment TagLine on Tag {
    id
    name
    colour
    entryCount
  }
`)

export type DriveTag = ResultOf<typeof TAG>

/** The tags of a drive. */
export const TAGS = graphql(
  `
    query Tags($drive: ID!) {
      node(id: $drive) {
        __typename
        id
        ... on Drive {
          tags {
            ...TagLine
          }
        }
      }
    }
  `,
  [TAG],
)

export const CREATE_TAG = graphql(
  `
    mutation CreateTag($input: CreateTagInput!) {
      createTag(input: $input) {
        tag {
          ...TagLine
        }
        drive {
          id
          tags {
            ...TagLine
          }
        }
      }
    }
  `,
  [TAG],
)

export const UPDATE_TAG = graphql(
  `
    mutation UpdateTag($input: UpdateTagInput!) {
      updateTag(input: $input) {
        tag {
          ...TagLine
        }
      }
    }
  `,
  [TAG],
)

export const DELETE_TAG = graphql(
  `
    mutation DeleteTag($input: DeleteTagInput!) {
      deleteTag(input: $input) {
        deletedId
        drive {
          id
          tags {
            ...TagLine
          }
        }
      }
    }
  `,
  [TAG],
)

export const TAG_ENTRIES = graphql(
  `
    mutation TagEntries($input: TagEntriesInput!) {
      tagEntries(input: $input) {
        entries {
          __typename
          id
          tags {
            id
            name
            colour
          }
        }
        drive {
          id
          tags {
            ...TagLine
          }
        }
      }
    }
  `,
  [TAG],
)
