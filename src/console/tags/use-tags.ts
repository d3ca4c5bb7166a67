import { useQuery } from 'urql'
import { type DriveTag, TAGS } from './documents.ts'

/** The tags of a drive; undefined while loading. */
export function useTags(drive: string): readonly DriveTag[] | undefined {
  const [{ data }] = useQuery({
    query: TAGS,
    variables: { drive },
    requestPolicy: 'cache-and-network',
  })
  return data?.node?.__typename === 'Drive' ? data.node.tags : undefined
}
