import { graphql, type ResultOf } from '../../../graphql/graphql.ts'

const WORK = graphql(`
  fragment Work on TimedWork {
    name
    count
    failed
    p95
    share
  }
`)

export const HEALTH = graphql(
  `
    query ServiceHealth($range: FigureRange!, $names: [FigureName!]!) {
      operator {
        serviceHealth(range: $range) {
          instance
          instances {
            name
          }
          firstRecordedAt
          findings {
            kind
            severity
            value
            count
            subject
            detail
          }
          startsAt
          stepSeconds
          series(names: $names) {
            name
            values
          }
          workers {
            pid
            memoryBytes
            processor
            eventLoopSeconds
          }
          routes {
            ...Work
          }
          fields {
            ...Work
          }
          statements {
            ...Work
          }
          storeCalls {
            ...Work
          }
          errorCounts {
            code
            count
          }
          unexpectedErrors {
            happenedAt
            requestId
            route
            code
            cause
          }
          jobQueues {
            kind
            waiting
            retrying
            givenUp
            oldestAt
          }
          fullestDrives {
            account {
              id
              name
              email
            }
            workspaceName
            usedBytes
            maxBytes
          }
          forecast {
            days
            bytesPerDay
            knownDays
          }
          lastBackupAt
          lastSweepAt
          freeBytes
          volumeBytes
        }
      }
    }
  `,
  [WORK],
)

export type Health = ResultOf<typeof HEALTH>['operator']['serviceHealth']
export type Finding = Health['findings'][number]
export type Name = Health['series'][number]['name']
