import { useEffect, useRef, useState } from 'react'

/**
 * How long a page stays hidden before it closes its connections. Browsers allow only a few per
 * origin.
 */
const HIDDEN_MS = 30_000

/**
 * Whether the page may be visible. Live updates pause while it is hidden.
 *
 * @param onReturn refetches what was missed
 */
export function useSeen(onReturn: () => void): boolean {
  const [isSeen, setSeen] = useState(!document.hidden)
  const latest = useRef({ isSeen, onReturn })
  latest.current = { isSeen, onReturn }
  useEffect(() => {
    let timer = 0
    const look = () => {
      clearTimeout(timer)
      if (document.hidden) timer = window.setTimeout(() => setSeen(false), HIDDEN_MS)
      else {
        if (!latest.current.isSeen) latest.current.onReturn()
        setSeen(true)
      }
    }
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return isSeen
}
