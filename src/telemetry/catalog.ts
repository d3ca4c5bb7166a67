/** Bounds in seconds. There are few, because each is a series for every combination of labels. */
const REQUEST = [0.005, 0.025, 0.1, 0.5, 2.5, 10]
const CALL = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
const BACKGROUND = [0.1, 1, 10, 60, 600]

/**
 * Finer bounds that are kept in this process, where each costs a number and no series. Quantiles
 * are computed from them.
 */
export const FINE = [
  ...[
    0.00025, 0.0005, 0.001, 0.0015, 0.0025, 0.0035, 0.005, 0.007, 0.01, 0.015, 0.025, 0.035, 0.05,
    0.07, 0.1, 0.15,
  ],
  ...[0.25, 0.35, 0.5, 0.7, 1, 1.5, 2.5, 3.5, 5, 7, 10, 15, 25, 35, 60, 120, 300],
]

interface Metric {
  /** The exported name. */
  name: `satchel_${string}`
  help: string
  /** The label names. Their values are from closed sets: docs/decisions/telemetry.md. */
  labels: readonly string[]
}

const counter = <const L extends readonly string[]>(
  name: `satchel_${string}_total`,
  labels: L,
  help: string,
) => ({
  name,
  labels,
  help,
  type: 'counter' as const,
})

const histogram = <const L extends readonly string[]>(
  name: `satchel_${string}_seconds`,
  { labels, buckets }: { labels: L; buckets: readonly number[] },
  help: string,
) => ({
  name,
  labels,
  buckets,
  help,
  bounds: buckets === BACKGROUND ? buckets : FINE,
  type: 'histogram' as const,
})

/** @param over how to combine the figures of several workers; by default their sum */
const gauge = <const L extends readonly string[]>(
  name: `satchel_${string}`,
  labels: L,
  help: string,
  over: 'sum' | 'min' | 'max' = 'sum',
) => ({ name, labels, help, over, type: 'gauge' as const })

export const counters = {
  httpRequests: counter(
    'satchel_http_requests_total',
    ['method', 'route', 'status'],
    'requests that have ended; status: that of the answer; maintenance instead of 503 where one has refused a change; cut where the connection ended before there was an answer',
  ),
  httpBytes: counter(
    'satchel_http_bytes_total',
    ['direction'],
    'bytes on connections of clients, with headers: received, sent',
  ),
  statements: counter(
    'satchel_database_statements_total',
    ['operation', 'table'],
    'SQL statements, by their verb and the first table that they name',
  ),
  storeBytes: counter(
    'satchel_store_written_bytes_total',
    [],
    'bytes that the service has written to the blob store',
  ),
  events: counter(
    'satchel_events_total',
    ['kind'],
    'events of drives and accounts, once their change is committed',
  ),
  signIns: counter(
    'satchel_sign_ins_total',
    ['outcome'],
    'sign-ins: signed_in, or the reason why one was refused, as in docs/contract.md',
  ),
  guesses: counter(
    'satchel_password_attempts_total',
    ['outcome'],
    'passwords of shares and file requests that visitors have sent: right, wrong, refused without a check',
  ),
  rateLimited: counter(
    'satchel_rate_limited_total',
    ['policy'],
    'requests that were refused because of a rate',
  ),
  errors: counter(
    'satchel_errors_total',
    ['code'],
    'errors in answers, by their code; docs/contract.md lists the codes',
  ),
  workerRestarts: counter(
    'satchel_worker_restarts_total',
    [],
    'workers that died and were replaced',
  ),
} as const satisfies Record<string, Metric>

export const histograms = {
  httpRequest: histogram(
    'satchel_http_request_seconds',
    { labels: ['method', 'route'], buckets: REQUEST },
    'time from the headers of a request to the end of its response; subscriptions and downloads last as long as their clients',
  ),
  graphqlOperation: histogram(
    'satchel_graphql_operation_seconds',
    { labels: ['type', 'field', 'outcome'], buckets: REQUEST },
    'time of a GraphQL query or mutation, by its root field (of me, with the field below it); outcome: ok, refused, failed',
  ),
  statement: histogram(
    'satchel_database_statement_seconds',
    { labels: ['operation', 'outcome'], buckets: CALL },
    'time of an SQL statement, with the wait for a connection; outcome: ok, failed (also where a unique index decides)',
  ),
  transaction: histogram(
    'satchel_database_transaction_seconds',
    { labels: ['outcome'], buckets: CALL },
    'time of a transaction, with its waits for connections and locks, and with its repetitions; outcome: ok, refused (rolled back for what the caller is to correct), failed',
  ),
  storeCall: histogram(
    'satchel_store_call_seconds',
    { labels: ['operation', 'outcome'], buckets: CALL },
    'time of a call of the blob store; an upload lasts as long as its sender; outcome: ok, refused (the caller), failed (the store)',
  ),
  job: histogram(
    'satchel_job_seconds',
    { labels: ['kind', 'outcome'], buckets: BACKGROUND },
    'time of a job of the outbox; outcome: done, retried, given_up',
  ),
  mail: histogram(
    'satchel_mail_seconds',
    { labels: ['outcome'], buckets: BACKGROUND },
    'time in which a mail is handed to the mail server; outcome: sent, refused, failed',
  ),
  delivery: histogram(
    'satchel_webhook_delivery_seconds',
    { labels: ['outcome'], buckets: REQUEST },
    'time of an attempt to deliver to a webhook; outcome: delivered, status, redirect, timeout, forbidden_address, connection',
  ),
  sweep: histogram(
    'satchel_sweep_seconds',
    { labels: ['outcome'], buckets: BACKGROUND },
    'time of a run of the sweeper; outcome: ok, failed',
  ),
} as const satisfies Record<string, Metric>

export const gauges = {
  info: gauge('satchel_info', ['version'], 'always 1; its label has the version', 'max'),
  httpRunning: gauge('satchel_http_requests_running', [], 'requests that are being answered'),
  httpConnections: gauge('satchel_http_connections', [], 'connections of clients'),
  bodies: gauge(
    'satchel_http_bodies_arriving',
    [],
    'request bodies that are arriving, uploads among them',
  ),
  bodyMemory: gauge('satchel_http_body_memory_bytes', [], 'memory reserved for request bodies'),
  bodyMemoryLimit: gauge('satchel_http_body_memory_limit_bytes', [], 'BODY_MEMORY_BYTES', 'max'),
  subscriptions: gauge('satchel_subscriptions_open', [], 'GraphQL subscriptions that are open'),
  connections: gauge(
    'satchel_database_connections',
    ['state'],
    'connections to the database: busy, idle; with SQLite, the one that writes',
  ),
  connectionLimit: gauge('satchel_database_connections_limit', [], 'DATABASE_POOL; 1 with SQLite'),
  connectionWaits: gauge(
    'satchel_database_waiting',
    [],
    'statements and transactions that wait for a connection',
  ),
  databaseUp: gauge('satchel_database_up', [], 'whether the database answers: 1, 0', 'min'),
  storeUp: gauge('satchel_store_up', [], 'whether the blob store answers: 1, 0', 'min'),
  storeCalls: gauge(
    'satchel_store_calls_running',
    ['operation'],
    'calls of the blob store under way: put, stage_part are uploads',
  ),
  storeFree: gauge(
    'satchel_store_free_bytes',
    [],
    'free space of the volume of the blobs; not with Azure or S3',
    'min',
  ),
  storeSize: gauge(
    'satchel_store_size_bytes',
    [],
    'size of the volume of the blobs; not with Azure or S3',
    'max',
  ),
  jobsDue: gauge('satchel_jobs_due', ['kind'], 'jobs of the outbox that are due', 'max'),
  jobsOldest: gauge(
    'satchel_jobs_oldest_due_seconds',
    ['kind'],
    'for how long the oldest of them is due',
    'max',
  ),
  jobsRetrying: gauge(
    'satchel_jobs_retrying',
    ['kind'],
    'jobs that have failed and will be tried again',
    'max',
  ),
  jobsGivenUp: gauge(
    'satchel_jobs_given_up',
    ['kind'],
    'jobs that were given up in the last 30 days',
    'max',
  ),
  webhooksDue: gauge(
    'satchel_webhooks_due',
    [],
    'webhooks with events that are due to be delivered',
    'max',
  ),
  webhooksOldest: gauge(
    'satchel_webhooks_oldest_due_seconds',
    [],
    'for how long the first of them is due',
    'max',
  ),
  webhooksFailing: gauge(
    'satchel_webhooks_failing',
    [],
    'active webhooks whose last delivery failed',
    'max',
  ),
  uploads: gauge('satchel_uploads_unfinished', [], 'uploads that hold a reservation', 'max'),
  uploadBytes: gauge('satchel_uploads_reserved_bytes', [], 'bytes that they have reserved', 'max'),
  used: gauge('satchel_storage_used_bytes', [], 'bytes of files, of all drives', 'max'),
  allowed: gauge(
    'satchel_storage_allowed_bytes',
    [],
    'bytes that all drives with a limit may hold',
    'max',
  ),
  kept: gauge(
    'satchel_storage_kept_bytes',
    [],
    'bytes in trash and versions, of all drives',
    'max',
  ),
  files: gauge('satchel_storage_files', [], 'files of all drives', 'max'),
  deleting: gauge(
    'satchel_blobs_deleting',
    [],
    'blobs that the sweeper has still to delete',
    'max',
  ),
  lastSweep: gauge(
    'satchel_sweep_last_success_timestamp_seconds',
    [],
    'when the sweeper of the instance last finished without an error, or was started since, in seconds since 1970',
    'max',
  ),
  maintenance: gauge(
    'satchel_maintenance',
    [],
    'whether writes are refused because of a maintenance: 1, 0',
    'max',
  ),
  workers: gauge('satchel_workers', [], 'workers that serve; not with WORKERS=1'),
  workersWanted: gauge('satchel_workers_wanted', [], 'workers that should serve'),
} as const satisfies Record<string, Metric>

export type CounterName = keyof typeof counters
export type HistogramName = keyof typeof histograms | keyof typeof ownHistograms
export type GaugeName = keyof typeof gauges

type Labelled<M extends { labels: readonly string[] }> = Readonly<
  Record<M['labels'][number], string>
>
export type CounterLabels<C extends CounterName> = Labelled<(typeof counters)[C]>
export type HistogramLabels<H extends HistogramName> = Labelled<
  (typeof histograms & typeof ownHistograms)[H]
>

/** For the operators' page only. As a metric, each table, verb and bucket would be a series. */
export const ownHistograms = {
  tableStatement: {
    name: 'satchel_database_table_seconds',
    help: 'time of an SQL statement, by its table',
    labels: ['operation', 'table'],
    buckets: FINE,
    bounds: FINE,
  },
} as const

/**
 * Every metric of the service. Metrics of the process (process_, nodejs_) come from prom-client.
 */
export const catalog = [
  ...Object.values(counters),
  ...Object.values(histograms),
  ...Object.values(gauges),
]
