import { useQuery } from 'urql'
import type { QueuedUpload } from '../../upload-engine/snapshot.ts'
import { graphql } from '../graphql/graphql.ts'
import { recordOf } from './uploads.ts'

const REPLACEABLE = graphql(`
  query Replaceable($drives: [ID!]!) {
    nodes(ids: $drives) {
      __typename
      id
      ... on Drive {
        permissions
        versionsKept
      }
      ... on DirectShare {
        mayEdit
      }
    }
  }
`)

/**
 * Whether the files whose names are taken may be replaced where they are, and are kept as versions:
 * it needs no question then. What is shared is kept for its owner.
 */
export function useMayReplace(uploads: readonly QueuedUpload[]): boolean {
  const taken = uploads.filter(({ phase }) => phase === 'conflict')
  const drives = [...new Set(taken.flatMap(({ id }) => recordOf(id)?.drive ?? []))].sort()
  const [{ data }] = useQuery({
    query: REPLACEABLE,
    variables: { drives },
    pause: drives.length === 0,
  })
  const found = data?.nodes ?? []
  return (
    found.length > 0 &&
    found.every(node =>
      node?.__typename === 'DirectShare'
        ? node.mayEdit
        : node?.__typename === 'Drive' &&
          node.permissions.includes('DELETE') &&
          node.versionsKept > 0,
    )
  )
}
