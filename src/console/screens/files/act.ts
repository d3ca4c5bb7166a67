import { text } from '../../parts/text.ts'
import { toastError } from '../../parts/toasts.tsx'
import type { Actions, createActions } from './on-demand/actions.ts'

/**
 * Runs an action on the entries of a drive, and returns its result.
 *
 * @throws the error of the action, or an error if the code could not be loaded
 */
export type Attempt = <Done>(work: (actions: Actions) => Done | Promise<Done>) => Promise<Done>

/** Runs an action on the entries of a drive. A toast shows failures. */
export type Act = (work: (actions: Actions) => unknown) => void

let loading: Promise<typeof createActions> | undefined

/**
 * Loads the code of the actions, which the first view does not need. A failed load is retried by
 * the next action.
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
 * The actions on the entries of a drive. Their code loads on first use.
 *
 * @param given arguments of `createActions`
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
