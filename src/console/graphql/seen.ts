import { useEffect, useRef, useState } from 'react'

/**
 * How long a page is hidden before it lets go of its connections: a browser has few to one service.
 */
const HIDDEN_MS = 30_000

/**
 * Whether the page may be visible: live updates pause while it is not.
 * @param onReturn reads again what was missed meanwhile
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
