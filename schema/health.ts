import type { DriveFill, JobState } from '../db/queries/health.ts'
import type { Finding as FindingView } from '../src/services/finding.ts'
import type { Forecast, Health, InstanceView } from '../src/services/health.ts'
import type { Failure as FailureView } from '../src/telemetry/figures.ts'
import type { Range, Recorded, Row, WorkerState } from '../src/telemetry/recorder.ts'
import { type Series, seriesNames } from '../src/telemetry/ring.ts'
import { severities } from '../src/telemetry/thresholds.ts'
import { findingKinds } from '../src/values/finding-kind.ts'
import { builder } from './builder.ts'
import { enumOf } from './enums.ts'
import { Account, accountOf, OperatorView } from './operator.ts'

/** The maximum length of a list on the page. */
const LISTED = 50

const constantOf = (name: string) => name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()

const enumOfNames = <N extends string>(name: string, description: string, names: readonly N[]) =>
  builder.enumType(name, {
    description,
    values: Object.fromEntries(names.map(value => [constantOf(value), { value }])) as Record<
      string,
      { value: N }
    >,
  })

const FindingSeverity = enumOf('FindingSeverity', 'The severity.', severities)
const FindingKind = enumOfNames('FindingKind', 'The kind of a finding.', findingKinds)
const FigureName = enumOfNames('FigureName', 'The recorded metrics of the service.', seriesNames)

const FigureRange = builder.enumType('FigureRange', {
  description: 'The time range of metrics.',
  values: {
    HOUR: { value: 'hour', description: 'One hour, in steps of 15 seconds.' },
    QUARTER: { value: 'quarter', description: 'Six hours, in steps of a minute.' },
    DAY: { value: 'day', description: 'A day, in steps of five minutes.' },
  } as const satisfies Record<string, { value: Range; description: string }>,
})

const Finding = builder.objectRef<FindingView>('Finding').implement({
  description: 'Something that an operator should know about the service.',
  fields: t => ({
    kind: t.expose('kind', { type: FindingKind, description: 'The kind of finding.' }),
    severity: t.expose('severity', { type: FindingSeverity, description: 'The severity.' }),
    message: t.exposeString('message', {
      description: 'The finding in plain words, and what to do.',
    }),
    value: t.exposeFloat('value', {
      description: 'The bad value: seconds, days, a number, or a fraction of 1.',
    }),
    count: t.exposeInt('count', {
      description: 'The number of jobs or drives that it concerns; otherwise 0.',
    }),
    subject: t.exposeString('subject', {
      description: 'The kind of jobs, the fullest drive, or the instance.',
    }),
    detail: t.exposeString('detail', {
      description: 'The last error, without addresses and secrets; often empty.',
    }),
  }),
})

const FigureSeries = builder
  .objectRef<{ name: (typeof seriesNames)[number]; values: Series }>('FigureSeries')
  .implement({
    description: 'One metric over time.',
    fields: t => ({
      name: t.expose('name', { type: FigureName, description: 'The metric.' }),
      values: t.expose('values', {
        type: 'Figures',
        description:
          'A number for each step, oldest first: for counters, the rate per second; for levels, the worst value; for times (P50, P95, P99), the quantile in seconds.',
      }),
    }),
  })

const TimedWork = builder.objectRef<Row>('TimedWork').implement({
  description:
    'The time that requests, operations, statements or calls of one kind took in the last hour.',
  fields: t => ({
    name: t.exposeString('name', {
      description: 'The route, the root field, or the table or call.',
    }),
    count: t.exposeInt('count', { description: 'How many.' }),
    failed: t.exposeInt('failed', {
      description: 'How many of them failed. Unknown for single tables.',
    }),
    p95: t.exposeFloat('p95', { description: 'The 95th percentile in seconds.' }),
    share: t.exposeFloat('share', {
      description: 'Their share of the total time of the list, from 0 to 1.',
    }),
  }),
})

const ErrorCount = builder.objectRef<Recorded['codes'][number]>('ErrorCount').implement({
  description: 'How many responses of the last hour had an error.',
  fields: t => ({
    code: t.exposeString('code', { description: 'The code of the error.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
})

const Failure = builder.objectRef<FailureView>('UnexpectedError').implement({
  description: 'An internal error of the service. The log has the details under its request id.',
  fields: t => ({
    happenedAt: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    requestId: t.exposeString('requestId', { description: 'The request id.' }),
    route: t.exposeString('route', { description: 'The pattern of the route.' }),
    code: t.exposeString('code', { description: 'The code that the caller received.' }),
    cause: t.exposeString('cause', {
      description: 'The name of the innermost error, and its code.',
    }),
  }),
})

const Worker = builder.objectRef<WorkerState>('ServiceWorker').implement({
  description: 'A process of the instance that answers requests.',
  fields: t => ({
    pid: t.exposeInt('pid', { description: 'Its process id.' }),
    memoryBytes: t.expose('memoryBytes', {
      type: 'Bytes',
      description: 'The memory that it uses.',
    }),
    processor: t.exposeFloat('processor', {
      description: 'Its processor usage; 1 means one whole processor.',
    }),
    eventLoopSeconds: t.exposeFloat('eventLoopSeconds', {
      description: 'The delay of its event loop in seconds, 99th percentile.',
    }),
  }),
})

const JobQueue = builder.objectRef<JobState>('JobQueue').implement({
  description: 'The pending jobs of a kind.',
  fields: t => ({
    kind: t.exposeString('kind', { description: 'The kind.' }),
    waiting: t.exposeInt('waiting', { description: 'How many are due or will be retried.' }),
    retrying: t.exposeInt('retrying', {
      description: 'How many of them have failed at least once.',
    }),
    givenUp: t.exposeInt('givenUp', { description: 'How many were abandoned.' }),
    oldestAt: t.expose('oldestAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the oldest of them has waited.',
    }),
  }),
})

const DriveFillType = builder.objectRef<DriveFill>('DriveFill').implement({
  description: 'How much of its limit a drive uses.',
  fields: t => ({
    account: t.field({
      type: Account,
      description: 'The account whose plan limits it.',
      resolve: ({ accountId }, _args, context) => accountOf(context, accountId),
    }),
    workspaceName: t.exposeString('workspace', {
      nullable: true,
      description: 'The name of its workspace; null for the drive of the account itself.',
    }),
    usedBytes: t.expose('usedBytes', {
      type: 'Bytes',
      description: 'Bytes of all files, with running uploads.',
    }),
    maxBytes: t.expose('maxBytes', { type: 'Bytes', description: 'Maximum bytes of all files.' }),
  }),
})

const StorageForecast = builder.objectRef<Forecast>('StorageForecast').implement({
  description: 'When the volume of the blobs will be full if storage keeps growing as before.',
  fields: t => ({
    days: t.exposeInt('days', { description: 'In how many days it will be full.' }),
    bytesPerDay: t.expose('bytesPerDay', {
      type: 'Bytes',
      description: 'How much is added each day.',
    }),
    knownDays: t.exposeInt('knownDays', {
      description: 'The number of days of data behind the forecast.',
    }),
  }),
})

const Instance = builder.objectRef<InstanceView>('ServiceInstance').implement({
  description: 'An instance of the service.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Its machine and port.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was started.' }),
    seenAt: t.expose('seenAt', {
      type: 'DateTime',
      description: 'When it last reported that it runs.',
    }),
  }),
})

const ServiceHealth = builder.objectRef<Health>('ServiceHealth').implement({
  description:
    'The health of the service: what is slow, full, failing or waiting. Metrics are those of the responding instance.',
  fields: t => {
    const rows = (table: keyof Recorded['tables'], description: string) =>
      t.field({
        type: [TimedWork],
        description,
        listSize: LISTED,
        resolve: ({ recorded }) => recorded.tables[table],
      })
    const level = (name: keyof Recorded['now'], description: string) =>
      t.field({
        type: 'Bytes',
        nullable: true,
        description,
        resolve: ({ recorded }) => recorded.now[name] ?? null,
      })
    return {
      answeredAt: t.expose('at', { type: 'DateTime', description: 'The time of this response.' }),
      instance: t.exposeString('instance', {
        description: 'The responding instance: its machine and port.',
      }),
      instances: t.expose('instances', {
        type: [Instance],
        description: 'The running instances, and those that stopped responding in the last day.',
        listSize: LISTED,
      }),
      firstRecordedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description:
          'Since when metrics are recorded; null before the first one, and while FIGURES is false.',
        resolve: ({ recorded }) => recorded.since,
      }),
      findings: t.expose('findings', {
        type: [Finding],
        description: 'What an operator should know, worst first.',
        listSize: LISTED,
      }),
      startsAt: t.field({
        type: 'DateTime',
        description: 'When the first step of the series begins.',
        resolve: ({ recorded }) => recorded.from,
      }),
      stepSeconds: t.int({
        description: 'The length of a step, in seconds.',
        resolve: ({ recorded }) => recorded.stepSeconds,
      }),
      series: t.field({
        type: [FigureSeries],
        description: 'Metrics over time, in the order of their names.',
        args: {
          names: t.arg({
            type: [FigureName],
            required: true,
            maxItems: seriesNames.length,
            description: 'The metrics.',
          }),
        },
        listSize: seriesNames.length,
        resolve: ({ recorded }, { names }) =>
          names.map(name => ({ name, values: recorded.series[name] ?? [] })),
      }),
      workers: t.field({
        type: [Worker],
        description: 'Its processes.',
        listSize: LISTED,
        resolve: ({ recorded }) => recorded.workers,
      }),
      routes: rows('routes', 'The requests by route, without /graphql, slowest first.'),
      fields: rows('fields', 'The GraphQL operations by root field, slowest first.'),
      statements: rows('statements', 'The statements by table, slowest first.'),
      storeCalls: rows('storeCalls', 'The calls of the blob store, slowest first.'),
      errorCounts: t.field({
        type: [ErrorCount],
        description: 'The errors by code, most frequent first.',
        listSize: LISTED,
        resolve: ({ recorded }) => recorded.codes,
      }),
      unexpectedErrors: t.field({
        type: [Failure],
        description: 'The latest unexpected errors, newest first.',
        listSize: LISTED,
        resolve: ({ recorded }) => recorded.failures,
      }),
      jobQueues: t.expose('jobs', {
        type: [JobQueue],
        description: 'The pending jobs by kind.',
        listSize: LISTED,
      }),
      fullestDrives: t.expose('fullest', {
        type: [DriveFillType],
        description: 'Up to 10 drives, those closest to their limits.',
        listSize: 10,
      }),
      forecast: t.expose('forecast', {
        type: StorageForecast,
        nullable: true,
        description: 'When the volume will be full; null if unknown, or if usage does not grow.',
      }),
      lastBackupAt: t.expose('backupAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When the last backup was made with `admin backup`.',
      }),
      usedBytes: level('usedBytes', 'Bytes of all files; read every five minutes.'),
      freeBytes: level(
        'freeBytes',
        'Free bytes of the volume of the blobs; null if the store has none.',
      ),
      volumeBytes: level('volumeBytes', 'The size of the volume.'),
      lastSweepAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When the sweeper last succeeded.',
        resolve: ({ recorded: { now } }) =>
          now.lastSweep === undefined ? null : now.lastSweep * 1000,
      }),
    }
  },
})

builder.objectField(OperatorView, 'serviceHealth', t =>
  t.field({
    type: ServiceHealth,
    description: 'The health of the service.',
    args: {
      range: t.arg({
        type: FigureRange,
        defaultValue: 'hour',
        required: true,
        description: 'The time range of the series.',
      }),
    },
    resolve: (_root, { range }, { services }) => services.health.state(range),
  }),
)
