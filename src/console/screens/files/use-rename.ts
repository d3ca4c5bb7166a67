import { useRef, useState } from 'react'
import { toastError } from '../../parts/toasts.tsx'
import type { Attempt } from './act.ts'
import type { Entry } from './documents.ts'

/**
 * A name that is being written. It outlasts the row, which is in the page only while it is seen.
 */
export interface Draft {
  /** Of the entry. */
  id: string
  typed: string
  /** Why the entry could not be given this name. */
  problem: string
  isSaving: boolean
}

export interface Renaming {
  draft: Draft | null
  start: (entry: Entry) => void
  type: (typed: string) => void
  /** Gives the entry the name that is typed; the draft stays until it has it. */
  save: (entry: Entry) => Promise<void>
  cancel: () => void
}

/**
 * The renaming of one entry at a time in its place.
 * @param list names the list that it is in: in another one it has ended
 * @param focus gives the focus to the list
 */
export function useRename(attempt: Attempt, list: string, focus: () => void): Renaming {
  const [state, setState] = useState<{ list: string; draft: Draft } | null>(null)
  // One who comes back does not find it again.
  if (state && state.list !== list) setState(null)
  const draft = state?.list === list ? state.draft : null
  const latest = useRef(draft)
  latest.current = draft
  const set = (next: Draft | null) => {
    latest.current = next
    setState(next && { list, draft: next })
  }
  const end = () => {
    set(null)
    if (document.activeElement?.closest('.name-edit')) focus()
  }
  return {
    draft,
    start: ({ id, name }) => set({ id, typed: name, problem: '', isSaving: false }),
    type: typed => latest.current && set({ ...latest.current, typed, problem: '' }),
    cancel: end,
    async save(entry) {
      const { current } = latest
      if (!current || current.isSaving) return
      const name = current.typed.trim()
      if (!name || name === entry.name) return end()
      const saving = { ...current, problem: '', isSaving: true }
      set(saving)
      const isShown = () => latest.current === saving
      try {
        await attempt(actions => actions.rename(entry, name))
        if (isShown()) end()
      } catch (error) {
        if (!isShown()) return toastError(error)
        set({
          ...saving,
          problem: error instanceof Error ? error.message : String(error),
          isSaving: false,
        })
      }
    },
  }
}
