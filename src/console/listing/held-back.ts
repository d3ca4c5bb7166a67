import { sharedValue } from '../parts/shared-value.ts'

const hidden = sharedValue<ReadonlySet<string>>(new Set())

/** Hides entries at once that are about to go: what takes them away is held back, or under way. */
export const hide = (ids: readonly string[]): void => hidden.set(new Set([...hidden.get(), ...ids]))

/** Shows them again. */
export function show(ids: readonly string[]): void {
  const back = new Set(ids)
  hidden.set(new Set([...hidden.get()].filter(id => !back.has(id))))
}

/** The ids of what is hidden. */
export const useHidden = hidden.use
