import { useEffect, useRef } from 'react'
import { useSubscription } from 'urql'
import { graphql } from './graphql.ts'
import { useSeen } from './seen.ts'

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

/** Calls back when the files of a drive have changed. A hidden page lets go of its connection. */
export function useLive(drive: string | undefined, onChange: () => void): void {
  const isSeen = useSeen(onChange)
  useSubscription(
    { query: CHANGED, variables: { drive: drive ?? '' }, pause: !drive || !isSeen },
    (_, data) => {
      // This is called while React draws.
      queueMicrotask(onChange)
      return data
    },
  )
}

const HAPPENED = graphql(`
  subscription DriveEvents($drive: ID!, $kinds: [EventKind!]) {
    driveEvents(drive: $drive, kinds: $kinds) {
      id
    }
  }
`)

/** What happens within this time is read together: the upload of a folder is many events. */
const GATHER_MS = 300

/**
 * Calls back when something has happened to a drive, which also are shares, members and keys.
 * @param kinds only of these
 */
export function useDriveEvents(
  drive: string | undefined,
  onEvent: () => void,
  kinds?: ReturnType<typeof graphql.scalar<'EventKind'>>[],
): void {
  const isSeen = useSeen(onEvent)
  const latest = useRef(onEvent)
  latest.current = onEvent
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const variables = { drive: drive ?? '', ...(kinds && { kinds }) }
  useSubscription({ query: HAPPENED, variables, pause: !drive || !isSeen }, (_, data) => {
    timer.current ||= window.setTimeout(() => {
      timer.current = 0
      latest.current()
    }, GATHER_MS)
    return data
  })
}
