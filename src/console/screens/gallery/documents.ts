import { graphql } from '../../graphql/graphql.ts'
import { ENTRY, type FileEntry } from '../files/documents.ts'

const MONTHS = graphql(`
  fragment MonthsOfDrive on Drive {
    id
    permissions
    trashDays
    pictureMonths {
      month
      count
    }
  }
`)

/** The number of pictures per month, and the person's permissions. */
export const GALLERY = graphql(
  `
    query Gallery($own: Boolean!, $slug: String) {
      me @include(if: $own) {
        id
        drive {
          ...MonthsOfDrive
        }
      }
      workspace(slug: $slug) @skip(if: $own) {
        id
        slug
        name
        drive {
          ...MonthsOfDrive
        }
      }
    }
  `,
  [MONTHS],
)

const PAGE = graphql(
  `
    fragment PicturesOfDrive on Drive {
      id
      pictures(first: $first, since: $since, until: $until, skip: $skip) {
        nodes {
          ...EntryLine
          preview {
            state
            placeholder
            small: url(size: SMALL)
          }
        }
      }
    }
  `,
  [ENTRY],
)

/** Some pictures of a month. */
export const PICTURES_OF_MONTH = graphql(
  `
    query PicturesOfMonth(
      $own: Boolean!
      $slug: String
      $first: Int!
      $since: DateTime!
      $until: DateTime!
      $skip: Int!
    ) {
      me @include(if: $own) {
        id
        drive {
          ...PicturesOfDrive
        }
      }
      workspace(slug: $slug) @skip(if: $own) {
        id
        drive {
          ...PicturesOfDrive
        }
      }
    }
  `,
  [PAGE],
)

/** A picture or video, with the state of its preview. */
export type Picture = FileEntry & {
  preview: {
    state: 'WAITING' | 'MADE' | 'FAILED'
    placeholder: string | null
    small: string | null
  } | null
}
