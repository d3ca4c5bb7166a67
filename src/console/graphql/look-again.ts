import { useEffect, useRef } from 'react'
import { useSeen } from './seen.ts'

/** Polls data that has no subscription, while the page may be visible. */
export function useLookAgain(read: () => void, everyMs: number): void {
  const latest = useRef(read)
  latest.current = read
  const isSeen = useSeen(read)
  useEffect(() => {
    if (!isSeen) return
    const timer = setInterval(() => latest.current(), everyMs)
    return () => clearInterval(timer)
  }, [isSeen, everyMs])
}
