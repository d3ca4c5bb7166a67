/** The severities of alarms. */
export const severities = ['critical', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

interface Threshold {
  /** The equivalent rule in docker/alerts.yml; a test compares them. */
  alert: string
  severity: Severity
  /** The threshold. */
  limit: number
  /** The number of minutes that are evaluated; 0 for the current value. */
  minutes: number
}

const threshold = (
  alert: `Satchel${string}`,
  severity: Severity,
  limit: number,
  minutes: number,
): Threshold => ({
  alert,
  severity,
  limit,
  minutes,
})

/** The thresholds for alarms on the operators' page and in Prometheus. */
export const thresholds = {
  databaseDown: threshold('SatchelDatabaseDown', 'critical', 0, 0),
  storeDown: threshold('SatchelStoreDown', 'critical', 0, 0),
  /** A fraction of the requests. */
  errors: threshold('SatchelErrors', 'critical', 0.05, 5),
  /** The 95th percentile of request times, in seconds. */
  slow: threshold('SatchelSlow', 'warning', 1, 5),
  connectionsExhausted: threshold('SatchelConnectionsExhausted', 'warning', 0, 5),
  /** In seconds. */
  eventLoopBlocked: threshold('SatchelEventLoopBlocked', 'warning', 0.25, 10),
  /** A fraction of the limit. */
  bodyMemoryFull: threshold('SatchelBodyMemoryFull', 'warning', 0.8, 5),
  /** In seconds. */
  jobsLate: threshold('SatchelJobsLate', 'warning', 600, 0),
  mailsFailing: threshold('SatchelMailsFailing', 'warning', 5, 15),
  webhooksLate: threshold('SatchelWebhooksLate', 'warning', 600, 0),
  /** A fraction of the deliveries. */
  deliveriesFailing: threshold('SatchelDeliveriesFailing', 'info', 0.5, 30),
  /** In seconds. */
  sweeperStopped: threshold('SatchelSweeperStopped', 'warning', 1800, 0),
  /** The free fraction of the volume. */
  volumeFull: threshold('SatchelVolumeFull', 'critical', 0.1, 0),
  guessing: threshold('SatchelGuessing', 'warning', 50, 15),
  signInsRefused: threshold('SatchelSignInsRefused', 'warning', 10, 15),
  workersDie: threshold('SatchelWorkersDie', 'critical', 2, 15),
  workersMissing: threshold('SatchelWorkersMissing', 'warning', 0, 5),
} as const satisfies Record<string, Threshold>

/**
 * Thumbnails may wait for long after a large upload. This is the limit in seconds, as in the alert
 * SatchelPreviewsLate.
 */
export const LATE_PREVIEW_SECONDS = 86_400

export type ThresholdName = keyof typeof thresholds

/** The minimum rate in requests per second for an alarm, so that one failure of two raises none. */
export const LEAST_REQUESTS = 0.1
