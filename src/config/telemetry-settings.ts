import { z } from 'zod'
import { flag } from './readers.ts'

const samplers = ['always_on', 'always_off', 'traceidratio'] as const

/** The settings of statistics, metrics and traces. Trace settings have OpenTelemetry's names. */
export const telemetrySettings = {
  FIGURES: {
    help: 'true: keep the metrics of the last 24 hours in memory, for the status page of operators',
    default: 'true',
    read: flag,
  },
  METRICS_HOST: {
    help: 'address to serve metrics on, for Prometheus; keep it private',
    default: '127.0.0.1',
    read: z.string().min(1),
  },
  METRICS_PORT: {
    help: 'port to serve metrics on, at /metrics',
    default: '',
    shown: 'no metrics',
    read: z
      .literal('')
      .transform(() => undefined)
      .or(z.coerce.number().int().min(0).max(65535)),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    help: 'URL to which traces are sent with OTLP over HTTP, such as http://localhost:4318',
    default: '',
    shown: 'no traces',
    read: z.url({ protocol: /^https?$/ }).or(z.literal('')),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    help: 'headers for this receiver: name=value, comma separated, values percent-encoded, such as authorization=Bearer%20secret',
    default: '',
    read: z.string().transform((text, problems) => {
      const pairs = text.split(',').filter(part => part.trim() !== '')
      const read = pairs.map(part => /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=(.*)$/.exec(part))
      const headers: Record<string, string> = {}
      for (const [, name = '', value = ''] of read.filter(found => found !== null))
        try {
          headers[name] = decodeURIComponent(value.trim())
        } catch {
          problems.addIssue('has a value that is not percent-encoded')
        }
      if (read.includes(null)) problems.addIssue('must be name=value, comma separated')
      return headers
    }),
  },
  OTEL_SERVICE_NAME: {
    help: 'name of the service in traces',
    default: 'satchel',
    read: z.string().min(1),
  },
  OTEL_TRACES_SAMPLER: {
    help: "which traces are sent: always_on, always_off, traceidratio; or parentbased_always_on, parentbased_always_off, parentbased_traceidratio, where the caller decides and the rest applies only without a caller's decision",
    default: 'parentbased_traceidratio',
    read: z.enum([...samplers, ...samplers.map(name => `parentbased_${name}` as const)]),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    help: 'fraction of the traces that traceidratio sends, from 0 to 1',
    default: '0.01',
    read: z.coerce.number().min(0).max(1),
  },
} as const
