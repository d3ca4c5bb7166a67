import { useEffect } from 'react'

/** Returns the focus to the list when a dialog or menu on top of it closes. */
export function useFocusBack(isCovered: boolean, focus: () => void): void {
  useEffect(() => {
    if (isCovered) return
    // The element that had the focus may be gone.
    const timer = setTimeout(() => document.activeElement === document.body && focus(), 50)
    return () => clearTimeout(timer)
  }, [isCovered, focus])
}
