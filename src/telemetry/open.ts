import type { Config } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from './metrics.ts'
import { joined, silent, silentMeasures, silentTraces, type Telemetry } from './telemetry.ts'

export interface OpenTelemetry {
  telemetry: Telemetry
  /** Undefined while metrics are off. */
  metrics: Metrics | undefined
  /** Sends the spans that wait. */
  stop(): Promise<void>
}

/** Loads what the settings turn on, and nothing else. */
export async function openTelemetry(
  { metrics: address, traces }: Pick<Config, 'metrics' | 'traces'>,
  log: Log,
): Promise<OpenTelemetry> {
  if (!address && !traces) return { telemetry: silent, metrics: undefined, stop: async () => {} }
  const metrics = address ? (await import('./metrics.ts')).createMetrics() : undefined
  const tracing = traces ? (await import('./tracing.ts')).createTracing(traces, log) : undefined
  return {
    telemetry: joined(metrics ?? silentMeasures, tracing ?? silentTraces),
    metrics,
    // A receiver that does not answer must not delay the end; what it misses is lost.
    stop: async () => tracing?.stop().catch(() => {}),
  }
}
