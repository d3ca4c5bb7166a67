import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../runtime/errors.ts'
import type { CounterLabels, CounterName, GaugeName, HistogramLabels, HistogramName } from './catalog.ts'

/** A value, or one for each combination of labels. */
export type Reading = number | [labels: Record<string, string>, value: number][]
export type Readings = { [Name in GaugeName | CounterName]?: Reading }

/** What metrics are made of. */
export interface Measures {
  /** Adds to a counter, by default 1. */
  count<C extends CounterName>(counter: C, labels: CounterLabels<C>, by?: number): void
  /** Notes how long something took. */
  time<H extends HistogramName>(histogram: H, labels: HistogramLabels<H>, seconds: number): void
  /**
   * Reads figures for each scrape: of gauges, and of counters that are kept elsewhere.
   * @param freshMs for so long they need not be read again; reading them may take a statement
   */
  read(readings: () => Readings | Promise<Readings>, freshMs?: number): void
}

export interface SpanOptions {
  name: string
  kind?: 'client' | 'internal'
  /** Nothing that comes from users: texts of our own, numbers, words of closed sets. */
  attributes?: Record<string, string | number>
  /** Begins a trace of its own, whatever caused it. */
  isRoot?: boolean
}

/** The span of a request. */
export interface RequestSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** Runs what belongs to it. */
  run<T>(work: () => T): T
  end(outcome: { method: string; route: string; status: number }): void
}

/** What traces are made of: OpenTelemetry spans, each a child of the one that it runs in. */
export interface Traces {
  /** Continues the trace that the headers of a request name, or begins one. Undefined while traces are off. */
  request(headers: IncomingHttpHeaders): RequestSpan | undefined
  /** Runs work as a span, unless it runs in none and is no root. */
  span<T>(span: SpanOptions, work: () => Promise<T>): Promise<T>
  /** Runs what is begun by a request and belongs to no trace. */
  detached<T>(work: () => T): T
  /** The header `traceparent` for requests to others. */
  headers(): Record<string, string>
}

interface Work<H extends HistogramName> {
  histogram: H
  labels: Omit<HistogramLabels<H>, 'outcome'>
  span: SpanOptions
  /** The value of the label `outcome`; by default as `outcomeOf` says. */
  outcome?: (error: unknown) => string
}

/** What the service tells about its work. Made once and handed down; while all of it is off, it does nothing. */
export interface Telemetry extends Measures, Traces {
  /** Whether it does anything. */
  readonly isOn: boolean
  /** Runs work as a span, and notes how long it took and how it ended. */
  observe<H extends HistogramName, T>(work: Work<H>, run: () => Promise<T>): Promise<T>
}

export const silentMeasures: Measures = { count() {}, time() {}, read() {} }
export const silentTraces: Traces = {
  request: () => undefined,
  span: (_, work) => work(),
  detached: work => work(),
  headers: () => ({}),
}

export const silent: Telemetry = {
  ...silentMeasures,
  ...silentTraces,
  isOn: false,
  observe: (_, run) => run(),
}

/** How work ended: ok; refused, for what the caller is to correct; failed. */
export function outcomeOf(error: unknown): string {
  if (error === undefined) return 'ok'
  return error instanceof AppError && error.status < 500 ? 'refused' : 'failed'
}

/** Puts metrics and traces together. */
export function joined(measures: Measures, traces: Traces): Telemetry {
  return {
    ...measures,
    ...traces,
    isOn: true,
    async observe({ histogram, labels, span, outcome = outcomeOf }, run) {
      const since = performance.now()
      const note = (error?: unknown) =>
        measures.time(histogram, { ...labels, outcome: outcome(error) } as never, (performance.now() - since) / 1000)
      try {
        const value = await traces.span(span, run)
        note()
        return value
      } catch (error) {
        note(error)
        throw error
      }
    },
  }
}
