import { graphql } from '../../graphql/graphql.ts'

/** The tags of all of the person's drives. */
export const SEARCHED_TAGS = graphql(`
  query SearchedTags {
    me {
      id
      drive {
        id
        tags {
          id
          name
        }
      }
      workspaces(first: 100) {
        nodes {
          id
          drive {
            id
            tags {
              id
              name
            }
          }
        }
      }
    }
  }
`)
