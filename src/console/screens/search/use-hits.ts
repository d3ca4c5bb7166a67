import { useCallback, useEffect, useRef, useState } from 'react'
import type { CombinedError } from 'urql'
import { client } from '../../graphql/client.ts'
import { SEARCH, type SearchData } from '../../search/documents.ts'
import { type Hit, hitOf } from '../../search/hit.ts'
import type { Order } from './address.ts'

const FIRST = 50
const NEXT = 100

interface Results {
  /** The query that produced these results. */
  query: string
  hits: readonly Hit[]
  hints: SearchData['hints']
  isComplete: boolean
  /** Cursor of the next page; null at the end. */
  cursor: string | null
}

interface Finding {
  results: Results | undefined
  isLoading: boolean
  error: CombinedError | undefined
}

const nothing: Finding = { results: undefined, isLoading: false, error: undefined }

/**
 * Search results, page by page. A new query aborts the previous request, and its results stay until
 * the new ones arrive. Results are never cached or stored offline, because the person may lose
 * access.
 */
export function useHits(query: string, order: Order) {
  const [finding, setFinding] = useState(nothing)
  const stop = useRef(() => {})

  const load = useCallback(
    (after: string | null, before: readonly Hit[]) => {
      stop.current()
      setFinding(now => ({ ...now, isLoading: true, error: undefined }))
      const variables = {
        query,
        order: orderOf(order),
        first: after === null ? FIRST : NEXT,
        after,
      }
      const context = { requestPolicy: 'network-only', once: true } as const
      const { unsubscribe } = client
        .query(SEARCH, variables, context)
        .subscribe(({ data, error, stale }) => {
          if (error || !data) return setFinding(now => ({ ...now, isLoading: false, error }))
          const { edges, pageInfo, hints, isComplete } = data.search
          const known = new Set(before.map(({ id }) => id))
          const hits = [...before, ...edges.map(hitOf).filter(({ id }) => !known.has(id))]
          const cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null
          setFinding({
            results: { query, hits, hints, isComplete, cursor },
            isLoading: stale,
            error: undefined,
          })
        })
      stop.current = unsubscribe
    },
    [query, order],
  )

  useEffect(() => {
    if (query.trim()) load(null, [])
    else setFinding(nothing)
    return () => stop.current()
  }, [query, load])

  const { results, isLoading, error } = finding
  return {
    ...finding,
    more() {
      if (results?.cursor && !isLoading && !error && results.query === query)
        load(results.cursor, results.hits)
    },
    refresh: () => load(null, []),
  }
}

const orderOf = (order: Order) => order.toUpperCase() as Uppercase<Order>
