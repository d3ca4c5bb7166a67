import { useEffect, useRef } from 'react'
import { queue } from './uploads.ts'

/** Files that are uploaded within this time are told of together. */
const GATHER_MS = 500

/** Calls back when the queue has uploaded files, for a list that no subscription tells of them. */
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
