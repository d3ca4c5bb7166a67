import { useRef } from 'react'
import { type AnyVariables, type UseQueryArgs, type UseQueryResponse, useQuery } from 'urql'
import { codeOf } from './errors.ts'

/**
 * Like `useQuery`, but what has been answered whole stays when it is asked for again and that
 * fails: what someone is typing, and open dialogs, stay with it. Who may no longer see it is told
 * so.
 */
export function useKeptQuery<Data, Variables extends AnyVariables>(
  args: UseQueryArgs<Variables, Data>,
): UseQueryResponse<Data, Variables> {
  const [state, execute] = useQuery(args)
  const kept = useRef<typeof state>(undefined)
  const failed = useRef<typeof state>(undefined)
  const { data, error, operation } = state
  // Until the service answers, the cache shows what it has: perhaps all but what the screen is
  // about.
  const isPart = operation?.context.meta?.cacheOutcome === 'partial'
  if (error) failed.current = state
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
