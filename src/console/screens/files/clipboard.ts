import { useSyncExternalStore } from 'react'
import type { Entry } from './documents.ts'

/** What was cut, to be moved where it is pasted. */
export interface Cut {
  drive: string
  entries: readonly Entry[]
}

let cut: Cut | null = null
const listeners = new Set<() => void>()

export function setCut(next: Cut | null): void {
  cut = next
  for (const listener of listeners) listener()
}

export const readCut = (): Cut | null => cut

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useCut = (): Cut | null => useSyncExternalStore(subscribe, readCut)
