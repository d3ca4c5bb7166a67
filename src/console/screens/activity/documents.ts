import { graphql, type ResultOf } from '../../graphql/graphql.ts'

const EVENT = graphql(`
  fragment EventLine on Event {
    id
    kind
    happenedAt
    via
    actor {
      id
      name
      email
    }
    entry {
      __typename
      id
      path
    }
    details {
      path
      from
      files
      recipient
      name
      role
      sender
    }
  }
`)

/** An event. */
export type Happened = ResultOf<typeof EVENT>

const DRIVE = graphql(
  `
    fragment EventsOfDrive on Drive {
      id
      events(first: $first, after: $after, newestFirst: true) {
        nodes {
          ...EventLine
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [EVENT],
)

/** One page of events of the person's drive or of a workspace, newest first. */
export const EVENTS = graphql(
  `
    query Activity($own: Boolean!, $slug: String, $first: Int!, $after: String) {
      me {
        id
        person {
          id
        }
        drive @include(if: $own) {
          ...EventsOfDrive
        }
      }
      workspace(slug: $slug) @skip(if: $own) {
        id
        slug
        name
        drive {
          ...EventsOfDrive
        }
      }
    }
  `,
  [DRIVE],
)

export type EventsData = ResultOf<typeof EVENTS>

/** One page of events of a file or folder, newest first. */
export const ENTRY_EVENTS = graphql(
  `
    query EntryActivity($id: ID!, $first: Int!, $after: String) {
      me {
        id
        person {
          id
        }
      }
      node(id: $id) {
        __typename
        id
        ... on Entry {
          events(first: $first, after: $after, newestFirst: true) {
            nodes {
              ...EventLine
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    }
  `,
  [EVENT],
)

export type EntryEventsData = ResultOf<typeof ENTRY_EVENTS>
