import { expect, it } from '@jest/globals'
import { statementOf } from '../../db/observed.ts'
import { readConfig } from '../../src/config/config.ts'

const tables = new Set(['entry', 'user', 'outbox'])

it.each([
  ['SELECT id FROM entry WHERE id = ?', 'select', 'entry'],
  ['INSERT INTO `outbox` (id) VALUES (?)', 'insert', 'outbox'],
  ['UPDATE user SET name = ? WHERE id = ?', 'update', 'user'],
  ["DELETE FROM migration WHERE name = ''", 'delete', 'none'],
  [
    'WITH RECURSIVE up AS (SELECT id FROM entry) SELECT * FROM up JOIN user ON 1',
    'select',
    'entry',
  ],
  ['PRAGMA journal_mode', 'other', 'none'],
])('%s is shown as %s %s', (sql, operation, table) => {
  expect(statementOf(sql, tables)).toEqual({ operation, table, text: sql })
})

it('metrics and traces are off without their settings', () => {
  expect(readConfig({})).toMatchObject({ metrics: null, traces: null })
})

it('the settings of traces follow OpenTelemetry', () => {
  const { traces, metrics } = readConfig({
    METRICS_PORT: '9464',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com/',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret, x-tenant=a',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
  })
  expect(metrics).toEqual({ host: '127.0.0.1', port: 9464 })
  expect(traces).toEqual({
    url: 'https://otel.example.com/v1/traces',
    headers: { authorization: 'Bearer secret', 'x-tenant': 'a' },
    serviceName: 'satchel',
    sampler: 'traceidratio',
    ratio: 0.5,
  })
})

it.each([
  [{ METRICS_PORT: 'http' }, /METRICS_PORT/],
  [{ METRICS_PORT: '70000' }, /METRICS_PORT/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost' }, /OTEL_EXPORTER_OTLP_ENDPOINT/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'nonsense' }, /OTEL_EXPORTER_OTLP_HEADERS: must be name=value/],
  [
    { OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
    /OTEL_EXPORTER_OTLP_HEADERS: has a value that is not percent-encoded/,
  ],
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, /OTEL_TRACES_SAMPLER/],
  [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /OTEL_TRACES_SAMPLER_ARG/],
])('%j is invalid', (env, said) => {
  expect(() => readConfig(env)).toThrow(said)
})
