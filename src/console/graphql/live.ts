import { useEffect, useRef } from 'react'
import { useSubscription } from 'urql'
import { graphql } from './graphql.ts'
import { useSeen } from './seen.ts'

const CHANGED = graphql(`
  subscription DriveChanged($drive: ID!) {
    driveChanged(drive: $drive) {
      id
      usage {
        usedBytes
        fileCount
        folderCount
      }
    }
  }
`)

/** Calls back when the files of a drive change. Hidden pages close the connection. */
export function useLive(drive: string | undefined, onChange: () => void): void {
  const isSeen = useSeen(onChange)
  useSubscription(
    { query: CHANGED, variables: { drive: drive ?? '' }, pause: !drive || !isSeen },
    (_, data) => {
      // React may be rendering when this runs.
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

/** Events within this time cause one refetch: the upload of a folder emits many. */
const GATHER_MS = 300

/**
 * Calls back after events of a drive, including shares, members and keys.
 *
 * @param kinds limits the events
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
