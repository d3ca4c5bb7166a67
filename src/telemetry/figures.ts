import { FINE } from './catalog.ts'

/** Figures that are added up, over workers and over time. */
export const sums = [
  // Requests by their outcome; an operation of GraphQL counts as what became of it.
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
 * Figures that rise and fall: how those of several workers become one. Over time, the worst is
 * told.
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

/**
 * Kinds of work whose times are told. `content` lasts as long as its client takes to send or to
 * read.
 */
export const timings = ['pages', 'rest', 'graph', 'content', 'statements', 'store'] as const

export type Sum = (typeof sums)[number]
export type Level = keyof typeof levels
export type Timing = (typeof timings)[number]
export const levelNames = Object.keys(levels) as Level[]

/** Work of one name, such as the requests of a route. */
export interface Timed {
  count: number
  failed: number
  seconds: number
  /** How many took up to each bound of FINE, and not up to the one before. */
  within: number[]
}

export const tables = ['routes', 'fields', 'statements', 'storeCalls'] as const
export type Table = (typeof tables)[number]

/** An error that nobody expected. Nothing of what its request said is kept. */
export interface Failure {
  at: number
  /** By which the log has all of it. */
  requestId: string
  /** The pattern of its route. */
  route: string
  code: string
  /** The name of the innermost error, with its code where it has one. */
  cause: string
}

/** What one process has done since its last sample, and how it is now. */
export interface Sample {
  /** Tells the processes of an instance apart. */
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
 * A quantile of times by how many were within each bound, between two bounds by proportion; null of
 * none.
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
      // Of what is beyond all bounds, only that is known.
      const to = FINE[i] ?? from
      return from + (to - from) * ((part * all - below) / here)
    }
    below += here
  }
  return null
}

/** Adds numbers to others at the same places. */
export function addTo(all: { [place: number]: number }, some: ArrayLike<number>): void {
  for (let i = 0; i < some.length; i++) all[i] = (all[i] ?? 0) + (some[i] ?? 0)
}
