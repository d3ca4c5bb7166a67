import { text } from '../../parts/text.ts'
import { toastError } from '../../parts/toasts.tsx'
import type { Actions, createActions } from './on-demand/actions.ts'

/**
 * Does something with the entries of a drive. Resolves to what that answers. @throws what it
 * throws, and when it could not be fetched
 */
export type Attempt = <Done>(work: (actions: Actions) => Done | Promise<Done>) => Promise<Done>

/** Does something with the entries of a drive, and says it in a toast when that fails. */
export type Act = (work: (actions: Actions) => unknown) => void

let loading: Promise<typeof createActions> | undefined

/**
 * Fetches what acts on entries: the first view needs none of it. What could not be fetched is asked
 * for again.
 */
export function loadActions() {
  loading ??= import('./on-demand/actions.ts')
    .then(({ createActions }) => createActions)
    .catch(error => {
      loading = undefined
      throw error
    })
  return loading
}

/**
 * What acts on the entries of a drive, as soon as it is there. @param given as `createActions`
 * takes it
 */
export function actWith(...given: Parameters<typeof createActions>): {
  attempt: Attempt
  act: Act
} {
  const attempt: Attempt = async work => {
    const createActions = await loadActions().catch(() => {
      throw new Error(text('offline'))
    })
    return work(createActions(...given))
  }
  return { attempt, act: work => void attempt(work).catch(toastError) }
}
