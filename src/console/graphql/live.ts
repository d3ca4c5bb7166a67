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

/** Calls back when something in the drive has changed. A hidden page lets go of its connection. */
export function useLive(drive: string | undefined, onChange: () => void): void {
  const isSeen = useSeen(onChange)
  useSubscription({ query: CHANGED, variables: { drive: drive ?? '' }, pause: !drive || !isSeen }, (_, data) => {
    // This is called while React draws.
    queueMicrotask(onChange)
    return data
  })
}
