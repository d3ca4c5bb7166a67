import { useRef } from 'react'
import { type AnyVariables, type UseQueryArgs, type UseQueryResponse, useQuery } from 'urql'
import { codeOf } from './errors.ts'
import { failureOf } from './failures.ts'

/**
 * Like `useQuery`, but keeps the last complete result when a refetch fails, so that open dialogs
 * and half-typed text survive. A person who lost access still gets the error.
 */
export function useKeptQuery<Data, Variables extends AnyVariables>(
  args: UseQueryArgs<Variables, Data>,
): UseQueryResponse<Data, Variables> {
  const [state, execute] = useQuery(args)
  const kept = useRef<typeof state>(undefined)
  const failed = useRef<typeof state>(undefined)
  const { data, error, operation } = state
  // While the request runs, the cache may return a partial result that lacks the main data.
  const isPart = operation?.context.meta?.cacheOutcome === 'partial'
  // The cache may return a partial result right after an error, before the error is rendered.
  const isOver = isPart && !state.fetching && !state.stale
  const missed = operation && isOver ? failureOf(operation) : undefined
  if (error) failed.current = state
  else if (missed) failed.current = { ...state, data: undefined, error: missed }
  else if (data && !isPart) {
    kept.current = state
    failed.current = undefined
  }
  if (isPart && !error && failed.current?.operation?.key === operation?.key && failed.current)
    return [failed.current, execute]
  const isSame = kept.current?.operation?.key === operation?.key
  if (!error || !kept.current || !isSame || codeOf(error) === 'FORBIDDEN') return [state, execute]
  return [{ ...state, data: kept.current.data, error: undefined } as typeof state, execute]
}
