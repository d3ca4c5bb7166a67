import { useEffect } from 'react'
import { useQuery } from 'urql'
import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { refusals } from '../graphql/refusals.ts'

const MAINTENANCE = graphql(`
  query CurrentMaintenance {
    maintenance {
      startedAt
      endsAt
      message
    }
  }
`)

export type Maintenance = NonNullable<ResultOf<typeof MAINTENANCE>['maintenance']>

const LOOK_MS = 60_000

/**
 * The current maintenance and a function to refetch it. It is refetched every minute, and when a
 * request was refused because of it.
 */
export function useMaintenance(): [maintenance: Maintenance | null | undefined, look: () => void] {
  const [{ data }, execute] = useQuery({ query: MAINTENANCE, requestPolicy: 'cache-and-network' })
  const refused = refusals.use()
  const maintenance = data?.maintenance
  const endsAt = maintenance?.endsAt
  useEffect(() => {
    const look = () => execute({ requestPolicy: 'network-only' })
    if (refused > 0) look()
    const left = endsAt ? Math.max(0, Date.parse(endsAt) - Date.now()) : Number.POSITIVE_INFINITY
    const end = left < LOOK_MS ? setTimeout(look, left + 1000) : undefined
    const timer = setInterval(look, LOOK_MS)
    return () => {
      clearInterval(timer)
      clearTimeout(end)
    }
  }, [refused, endsAt, execute])
  const isOver = endsAt !== undefined && Date.parse(endsAt) <= Date.now()
  return [isOver ? null : maintenance, () => execute({ requestPolicy: 'network-only' })]
}
