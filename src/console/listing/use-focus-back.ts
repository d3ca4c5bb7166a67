import { useEffect } from 'react'

/** Gives the focus back when what was open over a list has gone. */
export function useFocusBack(isCovered: boolean, focus: () => void): void {
  useEffect(() => {
    if (isCovered) return
    // What had the focus before may be gone.
    const timer = setTimeout(() => document.activeElement === document.body && focus(), 50)
    return () => clearTimeout(timer)
  }, [isCovered, focus])
}
