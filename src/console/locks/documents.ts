import { graphql, type ResultOf } from '../graphql/graphql.ts'

/** An entry with the WebDAV locks on it. */
export const LOCKED = graphql(`
  fragment LockedEntry on Entry {
    locks {
      id
      createdAt
      expiresAt
      mayEnd
      holder {
        id
        name
        email
      }
      entry {
        id
        name
      }
    }
  }
`)

export type Lock = NonNullable<ResultOf<typeof LOCKED>['locks']>[number]

export const END_LOCK = graphql(`
  mutation EndLock($input: EndLockInput!) {
    endLock(input: $input) {
      endedId
    }
  }
`)
