import { useEffect, useState } from 'react'
import { useSubscription } from 'urql'
import { graphql } from './graphql.ts'

const CHANGED = graphql(`
  subscription DriveChanged($drive: ID!) {
    bucketChanged(drive: $drive) {
      id
      usage {
        usedBytes
        fileCount
        folderCount
      }
    }
  }
`)

/** Calls back when something in the drive has changed. A hidden page lets go of its connection. */
export function useLive(drive: string | undefined, onChange: () => void): void {
  const [isSeen, setSeen] = useState(!document.hidden)
  useEffect(() => {
    let timer = 0
    const look = () => {
      clearTimeout(timer)
      if (document.hidden) timer = window.setTimeout(() => setSeen(false), 30_000)
      else
        setSeen(seen => {
          // What happened meanwhile was not heard of.
          if (!seen) onChange()
          return true
        })
    }
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  })
  useSubscription({ query: CHANGED, variables: { drive: drive ?? '' }, pause: !drive || !isSeen }, (_, data) => {
    // This is called while React draws.
    queueMicrotask(onChange)
    return data
  })
}
