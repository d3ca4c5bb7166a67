/** How bad it is that a figure is beyond its threshold. */
export const severities = ['critical', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

interface Threshold {
  /** The rule of docker/alerts.yml that says the same; a test compares them. */
  alert: string
  severity: Severity
  /** Beyond which the figure is bad. */
  limit: number
  /** Over how many minutes the figure is looked at; 0 for what counts as it is now. */
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

/** When the page of operators and the alerts of Prometheus say that something is wrong. */
export const thresholds = {
  databaseDown: threshold('SatchelDatabaseDown', 'critical', 0, 0),
  storeDown: threshold('SatchelStoreDown', 'critical', 0, 0),
  /** A part of the requests. */
  errors: threshold('SatchelErrors', 'critical', 0.05, 5),
  /** Seconds that nineteen of twenty requests take at most. */
  slow: threshold('SatchelSlow', 'warning', 1, 5),
  connectionsExhausted: threshold('SatchelConnectionsExhausted', 'warning', 0, 5),
  /** Seconds. */
  eventLoopBlocked: threshold('SatchelEventLoopBlocked', 'warning', 0.25, 10),
  /** A part of what is allowed. */
  bodyMemoryFull: threshold('SatchelBodyMemoryFull', 'warning', 0.8, 5),
  /** Seconds. */
  jobsLate: threshold('SatchelJobsLate', 'warning', 600, 0),
  mailsFailing: threshold('SatchelMailsFailing', 'warning', 5, 15),
  webhooksLate: threshold('SatchelWebhooksLate', 'warning', 600, 0),
  /** A part of the deliveries. */
  deliveriesFailing: threshold('SatchelDeliveriesFailing', 'info', 0.5, 30),
  /** Seconds. */
  sweeperStopped: threshold('SatchelSweeperStopped', 'warning', 1800, 0),
  /** The part of the volume that is free. */
  volumeFull: threshold('SatchelVolumeFull', 'critical', 0.1, 0),
  guessing: threshold('SatchelGuessing', 'warning', 50, 15),
  signInsRefused: threshold('SatchelSignInsRefused', 'warning', 10, 15),
  workersDie: threshold('SatchelWorkersDie', 'critical', 2, 15),
  workersMissing: threshold('SatchelWorkersMissing', 'warning', 0, 5),
} as const satisfies Record<string, Threshold>

/**
 * Previews may wait for long after a large upload: so many seconds, as the alert
 * SatchelPreviewsLate.
 */
export const LATE_PREVIEW_SECONDS = 86_400

export type ThresholdName = keyof typeof thresholds

/** At least so many requests a second, so that one failure of two is no alarm. */
export const LEAST_REQUESTS = 0.1
