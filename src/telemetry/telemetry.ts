import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../runtime/errors.ts'
import type {
  CounterLabels,
  CounterName,
  GaugeName,
  HistogramLabels,
  HistogramName,
} from './catalog.ts'

/** A value, or one for each combination of labels. */
export type Reading = number | [labels: Record<string, string>, value: number][]
export type Readings = { [Name in GaugeName | CounterName]?: Reading }

/** The source of metrics. */
export interface Measures {
  /**
   * Returns a function that adds to a counter, by default 1. Reuse the function where it is called
   * often.
   */
  counter<C extends CounterName>(counter: C, labels: CounterLabels<C>): (by?: number) => void
  /** Returns a function that records a duration in seconds. Reuse it as well. */
  timer<H extends HistogramName>(
    histogram: H,
    labels: HistogramLabels<H>,
  ): (seconds: number) => void
  /**
   * Registers a reader for each scrape: for gauges, and for counters that are kept elsewhere.
   * @param freshMs how long a reading is cached, because it may take a statement
   */
  read(readings: () => Readings | Promise<Readings>, freshMs?: number): void
}

export interface SpanOptions {
  name: string
  kind?: 'client' | 'internal'
  /** No user data: only our own texts, numbers, and words of closed sets. */
  attributes?: Record<string, string | number>
  /** Starts a separate trace, whatever caused it. */
  isRoot?: boolean
}

/** The span of a request. */
export interface RequestSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** Runs work within the span. */
  run<T>(work: () => T): T
  /** @param outcome without a status if the connection was cut before the response */
  end(outcome: { method: string; route: string; status: number | undefined }): void
}

/** The source of traces: OpenTelemetry spans, each a child of the current one. */
export interface Traces {
  /**
   * Continues the trace in the headers of a request, or begins one. Undefined if the request is not
   * traced.
   */
  request(headers: IncomingHttpHeaders): RequestSpan | undefined
  /** Runs work as a span, unless there is no current span and the work is no root. */
  span<T>(span: SpanOptions, work: () => Promise<T>): Promise<T>
  /** Runs work that a request starts but that belongs to no trace. */
  detached<T>(work: () => T): T
  /** The `traceparent` header for outgoing requests. */
  headers(): Record<string, string>
}

/** Repeated work: how it is traced, and its timer by outcome. */
export interface Work {
  span: SpanOptions
  note(outcome: string): (seconds: number) => void
  /** Returns the label `outcome`; by default `outcomeOf`. */
  outcome?: (error: unknown) => string
}

/**
 * The telemetry of the service. Created once and passed down. Does nothing while everything is off.
 */
export interface Telemetry extends Measures, Traces {
  /** Whether anything is on. */
  readonly isOn: boolean
  /** Whether tracing is on. */
  readonly traces: boolean
  /** Runs work as a span, and records its duration and outcome. */
  observe<T>(work: Work, run: () => Promise<T>): Promise<T>
}

const nothing = () => {}

export const silentMeasures: Measures = {
  counter: () => nothing,
  timer: () => nothing,
  read: nothing,
}
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
  traces: false,
  observe: (_, run) => run(),
}

/** The outcome of work: ok, refused (the caller must correct something), or failed. */
export function outcomeOf(error: unknown): string {
  if (error === undefined) return 'ok'
  return error instanceof AppError && error.status < 500 ? 'refused' : 'failed'
}

/** Combines metrics and traces. */
export function joined(measures: Measures, traces: Traces): Telemetry {
  return {
    ...measures,
    ...traces,
    isOn: true,
    traces: traces !== silentTraces,
    observe({ span, note, outcome = outcomeOf }, run) {
      const since = performance.now()
      const done = traces.span(span, run)
      const seconds = () => (performance.now() - since) / 1000
      // In parallel to the result, so that the caller does not wait longer.
      done.then(
        () => note(outcome(undefined))(seconds()),
        error => note(outcome(error))(seconds()),
      )
      return done
    },
  }
}

/**
 * Calls `make` for each of a few words at once, because a counter that appears with its first value
 * shows no increase from zero.
 */
export function forWords<W extends string, T>(
  words: readonly W[],
  make: (word: W) => T,
): Record<W, T> {
  return Object.fromEntries(words.map(word => [word, make(word)])) as Record<W, T>
}

/** Caches the results of `make` for a few words. */
export function byWord<T>(make: (word: string) => T): (word: string) => T {
  const made = new Map<string, T>()
  return word => {
    let known = made.get(word)
    if (known === undefined) {
      known = make(word)
      made.set(word, known)
    }
    return known
  }
}
