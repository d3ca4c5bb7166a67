import { FINE } from './catalog.ts'

/** Figures that are summed, over workers and over time. */
export const sums = [
  // Requests by outcome. A GraphQL operation counts by its own outcome.
  ...['answered', 'refused', 'failed', 'cut'],
  ...[
    'receivedBytes',
    'sentBytes',
    'statements',
    'failedStatements',
    'storeCalls',
    'failedStoreCalls',
  ],
  ...['signIns', 'refusedSignIns', 'wrongPasswords', 'refusedPasswords', 'rateLimited'],
  ...['sentMails', 'failedMails', 'deliveries', 'failedDeliveries', 'finishedJobs', 'failedJobs'],
  ...['processorSeconds', 'workerRestarts'],
] as const satisfies string[]

/**
 * Figures that rise and fall, and how to combine those of several workers. Over time, the worst
 * value is shown.
 */
export const levels = {
  workers: 'sum',
  runningRequests: 'sum',
  arrivingBodies: 'sum',
  runningUploads: 'sum',
  bodyMemory: 'sum',
  bodyMemoryLimit: 'max',
  busyConnections: 'sum',
  connectionLimit: 'sum',
  waitingStatements: 'sum',
  memoryBytes: 'sum',
  eventLoopSeconds: 'max',
  databaseUp: 'min',
  storeUp: 'min',
  freeBytes: 'min',
  volumeBytes: 'max',
  usedBytes: 'max',
  keptBytes: 'max',
  dueJobs: 'max',
  oldestJobSeconds: 'max',
  givenUpJobs: 'max',
  dueWebhooks: 'max',
  oldestWebhookSeconds: 'max',
  failingWebhooks: 'max',
  lastSweep: 'max',
} as const satisfies Record<string, 'sum' | 'min' | 'max'>

/** Kinds of work that are timed. `content` lasts as long as its client sends or reads. */
export const timings = ['pages', 'rest', 'graph', 'content', 'statements', 'store'] as const

export type Sum = (typeof sums)[number]
export type Level = keyof typeof levels
export type Timing = (typeof timings)[number]
export const levelNames = Object.keys(levels) as Level[]

/** Work with one name, such as the requests of a route. */
export interface Timed {
  count: number
  failed: number
  seconds: number
  /** The number of times between each bound of FINE and the previous bound. */
  within: number[]
}

export const tables = ['routes', 'fields', 'statements', 'storeCalls'] as const
export type Table = (typeof tables)[number]

/** An unexpected error, without any data of its request. */
export interface Failure {
  at: number
  /** The id that finds all details in the log. */
  requestId: string
  /** The pattern of the route. */
  route: string
  code: string
  /** The name of the innermost error, with its code if it has one. */
  cause: string
}

/** The figures of one process since its last sample, and its current levels. */
export interface Sample {
  /** Identifies the process within the instance. */
  worker: string
  pid: number
  at: number
  sums: Partial<Record<Sum, number>>
  levels: Partial<Record<Level, number>>
  timings: Partial<Record<Timing, number[]>>
  tables: Record<Table, Record<string, Timed>>
  codes: Record<string, number>
  failures: Failure[]
}

/**
 * A quantile of times from their distribution over the bounds, interpolated between two bounds;
 * null without times.
 */
export function quantile(within: ArrayLike<number>, part: number): number | null {
  let all = 0
  for (let i = 0; i < within.length; i++) all += within[i] ?? 0
  if (all === 0) return null
  let below = 0
  for (let i = 0; i < within.length; i++) {
    const here = within[i] ?? 0
    if (here > 0 && below + here >= part * all) {
      const from = FINE[i - 1] ?? 0
      // Times beyond all bounds are not known more exactly.
      const to = FINE[i] ?? from
      return from + (to - from) * ((part * all - below) / here)
    }
    below += here
  }
  return null
}

/** Adds numbers elementwise. */
export function addTo(all: { [place: number]: number }, some: ArrayLike<number>): void {
  for (let i = 0; i < some.length; i++) all[i] = (all[i] ?? 0) + (some[i] ?? 0)
}
