import type { Config } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Sample } from './figures.ts'
import { createMeasures } from './measures.ts'
import type { Metrics } from './metrics.ts'
import { createSampler, type Sampler } from './sampler.ts'
import { joined, silent, silentMeasures, silentTraces, type Telemetry } from './telemetry.ts'

export interface OpenTelemetry {
  telemetry: Telemetry
  /** Undefined if metrics are off. */
  metrics: Metrics | undefined
  /** Undefined if no statistics are kept. */
  sampler: Sampler | undefined
  /** Sends the pending spans. */
  stop(): Promise<void>
}

/**
 * Loads only what the settings turn on.
 * @param taken receives the samples of this process
 */
export async function openTelemetry(
  { figures, metrics: address, traces }: Pick<Config, 'figures' | 'metrics' | 'traces'>,
  log: Log,
  taken: (sample: Sample) => void,
): Promise<OpenTelemetry> {
  if (!figures && !address && !traces)
    return { telemetry: silent, metrics: undefined, sampler: undefined, stop: async () => {} }
  const measures = figures || address ? createMeasures() : undefined
  const metrics =
    measures && address ? (await import('./metrics.ts')).createMetrics(measures) : undefined
  const tracing = traces ? (await import('./tracing.ts')).createTracing(traces, log) : undefined
  const sampler = measures && figures ? createSampler(measures, taken) : undefined
  return {
    telemetry: joined(measures ?? silentMeasures, tracing ?? silentTraces),
    metrics,
    sampler,
    // A hanging receiver must not delay the stop. The remaining spans are lost.
    stop: async () => {
      sampler?.stop()
      await tracing?.stop().catch(() => {})
    },
  }
}
