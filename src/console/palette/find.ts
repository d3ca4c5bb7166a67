import { useEffect, useState } from 'react'
import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { ask } from '../graphql/run.ts'
import { SEARCH } from '../search/documents.ts'
import { type Hit, hitOf } from '../search/hit.ts'

/** The drives that the person may read. */
export const DRIVES = graphql(`
  query PaletteDrives {
    me {
      id
      drive {
        id
      }
      workspaces(first: 1000) {
        nodes {
          id
          name
          slug
          drive {
            id
          }
        }
      }
    }
  }
`)

type Viewer = ResultOf<typeof DRIVES>['me']
export type Workspace = NonNullable<Viewer['workspaces']>['nodes'][number]

const FIRST = 12
const PAUSE_MS = 180

interface Finding {
  /** The query that produced these results. */
  query: string
  found: readonly Hit[]
  isBusy: boolean
  error: Error | undefined
}

const nothing: Finding = { query: '', found: [], isBusy: false, error: undefined }

const isIn = (query: string, name: string) => name.toLowerCase().includes(query.toLowerCase())

/** Search results from all drives and received shares. Late responses are dropped. */
export function useFind(query: string): Finding & { retry: () => void } {
  const [finding, setFinding] = useState(nothing)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a retry repeats the request
  useEffect(() => {
    if (!query) return setFinding(nothing)
    let isOver = false
    const add = (change: Partial<Finding>) => isOver || setFinding(now => ({ ...now, ...change }))
    add({ isBusy: true, error: undefined })
    const timer = setTimeout(async () => {
      try {
        const { search } = await ask(SEARCH, {
          query,
          order: 'RELEVANCE',
          first: FIRST,
          after: null,
        })
        add({ query, found: search.edges.map(hitOf), isBusy: false })
      } catch (error) {
        add({ query, found: [], isBusy: false, error: error as Error })
      }
    }, PAUSE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [query, attempt])
  // While a new search runs, the old results stay if their names match the new text.
  const found = finding.found.filter(
    ({ name }) => query && (finding.query === query || isIn(query, name)),
  )
  return { ...finding, found, retry: () => setAttempt(now => now + 1) }
}
