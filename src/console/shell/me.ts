import { useQuery } from 'urql'
import { graphql, type ResultOf } from '../graphql/graphql.ts'

export const ME = graphql(`
  query Me {
    me {
      id
      name
      email
      unseenShareCount
      drive {
        id
        usage {
          usedBytes
          maxBytes
          isOver
        }
      }
      invites(first: 1) {
        nodes {
          id
        }
      }
    }
  }
`)

export type Me = ResultOf<typeof ME>['me']

/** Who is signed in; undefined while that is loaded. */
export function useMe(): Me | undefined {
  const [{ data }] = useQuery({ query: ME })
  return data?.me
}

const OPERATOR = graphql(`
  query MayAdminister {
    mailQueue {
      waiting
    }
  }
`)

/** Whether the person administers the service: others are refused what only operators read. */
export function useIsOperator(): boolean {
  const [{ data }] = useQuery({ query: OPERATOR })
  return Boolean(data)
}
