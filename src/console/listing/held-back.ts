import { useSyncExternalStore } from 'react'

let hidden: ReadonlySet<string> = new Set()
const listeners = new Set<() => void>()

function change(next: ReadonlySet<string>): void {
  hidden = next
  for (const listener of listeners) listener()
}

/** Hides entries at once that are about to go: what takes them away is held back, or under way. */
export const hide = (ids: readonly string[]): void => change(new Set([...hidden, ...ids]))

/** Shows them again. */
export function show(ids: readonly string[]): void {
  const back = new Set(ids)
  change(new Set([...hidden].filter(id => !back.has(id))))
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The ids of what is hidden. */
export const useHidden = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => hidden)
