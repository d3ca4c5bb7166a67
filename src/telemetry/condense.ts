import type { AddedTimes } from './cells.ts'
import {
  addTo,
  type Level,
  type Sample,
  type Sum,
  sums,
  type Table,
  type Timed,
  type Timing,
  tables,
} from './figures.ts'
import type { KeptMeasures } from './measures.ts'
import type { Reading, Readings } from './telemetry.ts'

type Counts = Pick<Sample, 'sums' | 'timings' | 'tables' | 'codes'>

/**
 * Requests that last as long as their client reads or sends. The alert about slow requests in
 * docker/alerts.yml excludes them as well.
 */
const CONTENT = /^\/api\/blobs|^\/api\/d\/|upload|download|part|content|zip|events/

/**
 * The kind of a route's requests; undefined for routes that are counted elsewhere or not
 * significant.
 */
function kindOf(route: string): Timing | undefined {
  // Operations are counted by field. Subscriptions are excluded, because they last for hours.
  if (route === '/graphql' || route === '/healthz' || route === '/readyz') return undefined
  if (CONTENT.test(route)) return 'content'
  return route.startsWith('/api/') ? 'rest' : 'pages'
}

function outcomeOf(status: string): 'answered' | 'refused' | 'failed' | 'cut' {
  if (status === 'cut') return 'cut'
  if (status === 'maintenance') return 'refused'
  return status >= '500' ? 'failed' : status >= '400' ? 'refused' : 'answered'
}

/** The counts since the last call, condensed for the operators' page. */
export function countsSince({ counters, histograms, own }: KeptMeasures): Counts {
  const total = Object.fromEntries(sums.map(name => [name, 0])) as Record<Sum, number>
  const timings: Partial<Record<Timing, number[]>> = {}
  const rows = Object.fromEntries(tables.map(table => [table, {}])) as Record<
    Table,
    Record<string, Timed>
  >

  function time(timing: Timing, { within }: AddedTimes): void {
    const all = timings[timing] ?? []
    timings[timing] = all
    addTo(all, within)
  }

  function row(table: Table, name: string): Timed {
    const known = rows[table][name] ?? { count: 0, failed: 0, seconds: 0, within: [] }
    rows[table][name] = known
    return known
  }

  function list(
    table: Table,
    name: string,
    { count, seconds, within }: AddedTimes,
    failed = false,
  ): void {
    const all = row(table, name)
    all.count += count
    all.seconds += seconds
    if (failed) all.failed += count
    addTo(all.within, within)
  }

  for (const { labels, count } of counters.httpRequests.changes()) {
    const outcome = outcomeOf(labels.status ?? '')
    total[outcome] += count
    if (outcome === 'failed' && kindOf(labels.route ?? ''))
      row('routes', `${labels.method} ${labels.route}`).failed += count
  }
  for (const added of histograms.httpRequest.changes()) {
    const { method, route = '' } = added.labels
    const kind = kindOf(route)
    if (!kind) continue
    time(kind, added)
    list('routes', `${method} ${route}`, added)
  }
  for (const added of histograms.graphqlOperation.changes()) {
    const { type, field, outcome } = added.labels
    time('graph', added)
    list('fields', `${type} ${field}`, added, outcome === 'failed')
    if (outcome !== 'failed' && outcome !== 'refused') continue
    // Its request usually has status 200.
    total[outcome] += added.count
    total.answered = Math.max(0, total.answered - added.count)
  }
  for (const added of histograms.statement.changes()) {
    time('statements', added)
    total.statements += added.count
    if (added.labels.outcome === 'failed') total.failedStatements += added.count
  }
  for (const added of own.tableStatement.changes())
    list('statements', `${added.labels.operation} ${added.labels.table}`, added)
  for (const added of histograms.storeCall.changes()) {
    const failed = added.labels.outcome === 'failed'
    time('store', added)
    total.storeCalls += added.count
    if (failed) total.failedStoreCalls += added.count
    list('storeCalls', added.labels.operation ?? '', added, failed)
  }

  const count = (
    name: Sum,
    added: { labels: Record<string, string>; count: number }[],
    outcome: (o: string) => boolean,
  ) => {
    for (const { labels, count } of added) if (outcome(labels.outcome ?? '')) total[name] += count
  }
  const [signIns, guesses] = [counters.signIns.changes(), counters.guesses.changes()]
  count('signIns', signIns, o => o === 'signed_in')
  count('refusedSignIns', signIns, o => o !== 'signed_in')
  count('wrongPasswords', guesses, o => o === 'wrong')
  count('refusedPasswords', guesses, o => o === 'refused')
  count('rateLimited', counters.rateLimited.changes(), () => true)
  const [mails, deliveries, jobs] = [histograms.mail, histograms.delivery, histograms.job].map(h =>
    h.changes(),
  )
  count('sentMails', mails ?? [], o => o === 'sent')
  count('failedMails', mails ?? [], o => o === 'failed')
  count('deliveries', deliveries ?? [], o => o === 'delivered')
  count('failedDeliveries', deliveries ?? [], o => o !== 'delivered')
  count('finishedJobs', jobs ?? [], o => o === 'done')
  count('failedJobs', jobs ?? [], o => o !== 'done')
  const codes = Object.fromEntries(
    counters.errors.changes().map(({ labels, count }) => [labels.code ?? '', count]),
  )
  return { sums: total, timings, tables: rows, codes }
}

/** The values of a reading, or of some of its labels. */
function valuesOf(
  reading: Reading | undefined,
  of: (labels: Record<string, string>) => boolean = () => true,
): number[] {
  if (reading === undefined) return []
  return typeof reading === 'number'
    ? [reading]
    : reading.flatMap(([labels, value]) => (of(labels) ? [value] : []))
}

const UPLOADS = new Set(['put', 'stage_part', 'commit_parts'])

/** The known levels among the readings. */
export function levelsOf(readings: Readings): Partial<Record<Level, number>> {
  const sum = (values: number[]) =>
    values.length === 0 ? undefined : values.reduce((all, value) => all + value, 0)
  const most = (values: number[]) => (values.length === 0 ? undefined : Math.max(...values))
  const one = (name: keyof Readings) => sum(valuesOf(readings[name]))
  const found: Partial<Record<Level, number | undefined>> = {
    runningRequests: one('httpRunning'),
    arrivingBodies: one('bodies'),
    runningUploads: sum(
      valuesOf(readings.storeCalls, ({ operation = '' }) => UPLOADS.has(operation)),
    ),
    bodyMemory: one('bodyMemory'),
    bodyMemoryLimit: one('bodyMemoryLimit'),
    busyConnections: sum(valuesOf(readings.connections, ({ state }) => state === 'busy')),
    connectionLimit: one('connectionLimit'),
    waitingStatements: one('connectionWaits'),
    databaseUp: one('databaseUp'),
    storeUp: one('storeUp'),
    freeBytes: one('storeFree'),
    volumeBytes: one('storeSize'),
    usedBytes: one('used'),
    keptBytes: one('kept'),
    dueJobs: one('jobsDue'),
    // Thumbnails may wait for long.
    oldestJobSeconds: most(valuesOf(readings.jobsOldest, ({ kind }) => kind !== 'preview')),
    givenUpJobs: one('jobsGivenUp'),
    dueWebhooks: one('webhooksDue'),
    oldestWebhookSeconds: one('webhooksOldest'),
    failingWebhooks: one('webhooksFailing'),
    lastSweep: one('lastSweep'),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** The bytes on client connections, as counted by their sockets. */
export function bytesOf(readings: Readings): Record<'received' | 'sent', number> {
  const of = (direction: string) =>
    valuesOf(readings.httpBytes, labels => labels.direction === direction)[0] ?? 0
  return { received: of('received'), sent: of('sent') }
}
