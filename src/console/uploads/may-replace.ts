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
 * Whether the existing files may be replaced without asking, because the old content stays as a
 * version. In shares, the owner keeps it.
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
