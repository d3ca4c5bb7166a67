import type { Actions, createActions } from './on-demand/actions.ts'

/** Does something with the entries of a drive. Resolves to what that answers. */
export type Act = <Done>(work: (actions: Actions) => Done | Promise<Done>) => Promise<Done>

let loading: Promise<typeof import('./on-demand/actions.ts')> | undefined

/** Fetches what acts on entries: the first view needs none of it. What could not be fetched is asked for again. */
export function loadActions() {
  loading ??= import('./on-demand/actions.ts').catch(error => {
    loading = undefined
    throw error
  })
  return loading
}

/** What acts on the entries of a drive, as soon as it is there. @param given as `createActions` takes it */
export const actWith =
  (...given: Parameters<typeof createActions>): Act =>
  async work =>
    work((await loadActions()).createActions(...given))
