import { sharedValue } from '../parts/shared-value.ts'

const hidden = sharedValue<ReadonlySet<string>>(new Set())

/** Hides entries whose removal is delayed or in progress. */
export const hide = (ids: readonly string[]): void => hidden.set(new Set([...hidden.get(), ...ids]))

/** Shows the entries again. */
export function show(ids: readonly string[]): void {
  const back = new Set(ids)
  hidden.set(new Set([...hidden.get()].filter(id => !back.has(id))))
}

/** The ids of hidden entries. */
export const useHidden = hidden.use
