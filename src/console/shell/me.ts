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

/** The signed-in person; undefined while loading. */
export function useMe(): Me | undefined {
  const [{ data }] = useQuery({ query: ME })
  return data?.me
}

const OPERATOR = graphql(`
  query MayAdminister {
    operator {
      mailQueue {
        waiting
      }
    }
  }
`)

/** Whether the person is an operator. The service refuses operator queries to everyone else. */
export function useIsOperator(): boolean {
  const [{ data }] = useQuery({ query: OPERATOR })
  return Boolean(data)
}
