import { useRef, useState } from 'react'
import { toastError } from '../../parts/toasts.tsx'
import type { Attempt } from './act.ts'
import type { Entry } from './documents.ts'

/**
 * The name that the person is typing. It outlives the row, which is unmounted when it is scrolled
 * out of view.
 */
export interface Draft {
  /** Id of the entry. */
  id: string
  typed: string
  /** Why the name was rejected. */
  problem: string
  isSaving: boolean
}

export interface Renaming {
  draft: Draft | null
  start: (entry: Entry) => void
  type: (typed: string) => void
  /** Renames the entry to the typed name. The draft stays until that succeeds. */
  save: (entry: Entry) => Promise<void>
  cancel: () => void
}

/**
 * Renames one entry at a time, in place.
 *
 * @param list identifies the list; changing it cancels renaming
 * @param focus focuses the list
 */
export function useRename(attempt: Attempt, list: string, focus: () => void): Renaming {
  const [state, setState] = useState<{ list: string; draft: Draft } | null>(null)
  // Returning to the first list does not restore the draft.
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
