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

/** What metrics are made of. */
export interface Measures {
  /** Makes what adds to a counter, by default 1. Keep it where it is called often. */
  counter<C extends CounterName>(counter: C, labels: CounterLabels<C>): (by?: number) => void
  /** Makes what notes how long something took, in seconds. Keep it likewise. */
  timer<H extends HistogramName>(
    histogram: H,
    labels: HistogramLabels<H>,
  ): (seconds: number) => void
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
  /** @param outcome without a status if the connection was cut before there was an answer */
  end(outcome: { method: string; route: string; status: number | undefined }): void
}

/** What traces are made of: OpenTelemetry spans, each a child of the one that it runs in. */
export interface Traces {
  /**
   * Continues the trace that the headers of a request name, or begins one. Undefined where it is
   * not to be traced.
   */
  request(headers: IncomingHttpHeaders): RequestSpan | undefined
  /** Runs work as a span, unless it runs in none and is no root. */
  span<T>(span: SpanOptions, work: () => Promise<T>): Promise<T>
  /** Runs what is begun by a request and belongs to no trace. */
  detached<T>(work: () => T): T
  /** The header `traceparent` for requests to others. */
  headers(): Record<string, string>
}

/**
 * Something that is done again and again: how it is traced, and what notes its time by its outcome.
 */
export interface Work {
  span: SpanOptions
  note(outcome: string): (seconds: number) => void
  /** The value of the label `outcome`; by default as `outcomeOf` says. */
  outcome?: (error: unknown) => string
}

/**
 * What the service tells about its work. Made once and handed down; while all of it is off, it does
 * nothing.
 */
export interface Telemetry extends Measures, Traces {
  /** Whether it does anything. */
  readonly isOn: boolean
  /** Whether anything is traced. */
  readonly traces: boolean
  /** Runs work as a span, and notes how long it took and how it ended. */
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
    traces: traces !== silentTraces,
    observe({ span, note, outcome = outcomeOf }, run) {
      const since = performance.now()
      const done = traces.span(span, run)
      const seconds = () => (performance.now() - since) / 1000
      // Beside what the caller waits for, so that it waits no longer.
      done.then(
        () => note(outcome(undefined))(seconds()),
        error => note(outcome(error))(seconds()),
      )
      return done
    },
  }
}

/**
 * Makes something for each of few words, now: a counter that appears with its first value shows no
 * increase from zero.
 */
export function forWords<W extends string, T>(
  words: readonly W[],
  make: (word: W) => T,
): Record<W, T> {
  return Object.fromEntries(words.map(word => [word, make(word)])) as Record<W, T>
}

/** Remembers what is made for each of few words. */
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
