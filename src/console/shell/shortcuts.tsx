import { lazy, Suspense, useEffect } from 'react'
import { sharedValue } from '../parts/shared-value.ts'

const Keys = lazy(() =>
  import('../screens/files/on-demand/dialogs.tsx').then(({ Keys }) => ({ default: Keys })),
)

/** Whether the list of keyboard shortcuts is open. */
export const shortcuts = sharedValue(false)

/** Elements that use typed keys themselves. */
const TYPING =
  'input, textarea, select, [contenteditable], [role=dialog], [role=menu], [role=listbox]'

/** The list of keyboard shortcuts, opened with `?` on any screen. */
export function Shortcuts() {
  const isOpen = shortcuts.use()
  useEffect(() => {
    const onKey = ({ key, target, defaultPrevented }: KeyboardEvent) => {
      if (
        key === '?' &&
        !defaultPrevented &&
        !(target instanceof Element && target.closest(TYPING))
      )
        shortcuts.set(true)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    isOpen && (
      <Suspense>
        <Keys onClose={() => shortcuts.set(false)} />
      </Suspense>
    )
  )
}
