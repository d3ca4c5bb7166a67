import { useEffect, useRef } from 'react'
import { queue } from './uploads.ts'

/** Uploads that finish within this time are reported together. */
const GATHER_MS = 500

/** Calls back after uploads finish, for lists without a subscription. */
export function useUploaded(onUploaded: () => void): void {
  const latest = useRef(onUploaded)
  latest.current = onUploaded
  useEffect(() => {
    const countOf = () => queue.snapshot().total.phases.uploaded
    let count = countOf()
    let timer = 0
    const stop = queue.subscribe(() => {
      const before = count
      count = countOf()
      if (count <= before || timer) return
      timer = window.setTimeout(() => {
        timer = 0
        latest.current()
      }, GATHER_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
}
