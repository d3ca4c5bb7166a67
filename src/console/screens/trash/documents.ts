import { graphql, type ResultOf } from '../../graphql/graphql.ts'

const ITEM = graphql(`
  fragment TrashLine on TrashItem {
    id
    name
    path
    contentType
    size
    deletedAt
    expiresAt
    endedShares
    sharesEndAt
    deletedBy {
      id
      name
      email
    }
  }
`)

/** The fields that a row of the trash shows. */
export type TrashItem = ResultOf<typeof ITEM>

const DRIVE = graphql(
  `
    fragment TrashOfDrive on Drive {
      id
      permissions
      trashDays
      trash(first: $first, after: $after) {
        nodes {
          ...TrashLine
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [ITEM],
)

/** One page of the trash of the person or of a workspace. */
export const TRASH = graphql(
  `
    query Trash($own: Boolean!, $slug: String, $first: Int!, $after: String) {
      me @include(if: $own) {
        id
        drive {
          ...TrashOfDrive
        }
      }
      workspace(slug: $slug) @skip(if: $own) {
        id
        name
        drive {
          ...TrashOfDrive
        }
      }
    }
  `,
  [DRIVE],
)

export type TrashData = ResultOf<typeof TRASH>

export const DELETE_FOR_EVER = graphql(`
  mutation DeleteForEver($input: DeleteFromTrashInput!) {
    deleteFromTrash(input: $input) {
      deletedIds
      drive {
        id
      }
    }
  }
`)

export const EMPTY_TRASH = graphql(`
  mutation EmptyTrash($input: EmptyTrashInput!) {
    emptyTrash(input: $input) {
      count
      drive {
        id
      }
    }
  }
`)
