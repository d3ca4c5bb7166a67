import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import {
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Config } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'
import type { RequestSpan, SpanOptions, Traces } from './telemetry.ts'

export type TraceSettings = NonNullable<Config['traces']>

const kinds = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }

/**
 * Samples by the settings. Root spans are sampled at random, and child spans follow. Sampling by
 * trace id would let clients choose. Requests without a caller's trace have already been sampled.
 */
function samplerOf(sampler: string, chance: number): Sampler {
  const decided = (isSampled: boolean) => ({
    decision: isSampled ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  })
  const root: Sampler = {
    shouldSample: (context, _traceId, _name, kind) =>
      decided(
        (kind === SpanKind.SERVER && !trace.getSpanContext(context)) || Math.random() < chance,
      ),
    toString: () => sampler,
  }
  const ignoresCaller = !sampler.startsWith('parentbased_')
  return new ParentBasedSampler({
    root,
    ...(ignoresCaller ? { remoteParentSampled: root, remoteParentNotSampled: root } : {}),
  })
}

const chanceOf = ({ sampler, ratio }: TraceSettings): number =>
  sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : ratio

/**
 * The only header that is read and forwarded. `tracestate` contains a caller's texts, which would
 * reach other receivers.
 */
const TRACEPARENT = 'traceparent'

const fromHeaders: TextMapGetter<IncomingHttpHeaders> = {
  get: (headers, name) => (name === TRACEPARENT ? headers[name]?.toString() : undefined),
  keys: () => [TRACEPARENT],
}

/** Receivers may be down for hours, and spans are sent every few seconds. */
const WARN_MS = 60_000

/** Logs export failures at most once a minute, without the headers, which may contain a secret. */
function reported(exporter: SpanExporter, log: Log): SpanExporter {
  let warnedAt = Number.NEGATIVE_INFINITY

  function warn(error: (Error & { code?: unknown }) | undefined): void {
    if (performance.now() - warnedAt < WARN_MS) return
    warnedAt = performance.now()
    // Only a status or a code of Node.js, because texts may come from the receiver. Without either,
    // the library's own text.
    const reason = error?.code ?? error?.message ?? 'unknown'
    log.warn(
      { reason },
      'traces could not be sent and are lost: check OTEL_EXPORTER_OTLP_ENDPOINT and its receiver',
    )
  }

  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        if (result.code !== ExportResultCode.SUCCESS) warn(result.error)
        done(result)
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}

/**
 * Traces with OpenTelemetry, sent by OTLP over HTTP. Patches no modules and registers nothing
 * globally: only code that calls this is traced. The current span is kept in a private
 * AsyncLocalStorage.
 */
export function createTracing(
  settings: TraceSettings,
  log: Log,
): Traces & { stop(): Promise<void> } {
  const chance = chanceOf(settings)
  const exporter = reported(
    new OTLPTraceExporter({ url: settings.url, headers: settings.headers }),
    log,
  )
  const provider = new TracerProvider({
    sampler: samplerOf(settings.sampler, chance),
    resource: resourceFromAttributes({ 'service.name': settings.serviceName }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('satchel')
  const propagator = new W3CTraceContextPropagator()
  const active = new AsyncLocalStorage<Span | undefined>()

  async function within<T>(span: Span, work: () => Promise<T>): Promise<T> {
    try {
      return await active.run(span, work)
    } catch (error) {
      // The error message may quote a name or an address.
      span.setStatus({
        code: SpanStatusCode.ERROR,
        message: error instanceof Error ? error.name : 'thrown',
      })
      throw error
    } finally {
      span.end()
    }
  }

  return {
    request(headers): RequestSpan | undefined {
      // Nearly all requests start an unsampled trace, and skip everything else.
      const context = headers[TRACEPARENT]
        ? propagator.extract(ROOT_CONTEXT, headers, fromHeaders)
        : ROOT_CONTEXT
      if (!trace.getSpanContext(context) && Math.random() >= chance) return undefined
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, context)
      // A subscription lasts for hours, and would keep adding its statements to one trace.
      const isLong = headers.accept?.includes('text/event-stream') ?? false
      return {
        traceId: span.spanContext().traceId,
        run: work => active.run(isLong ? undefined : span, work),
        end({ method, route, status }) {
          if (span.isRecording()) {
            span.updateName(`${method} ${route}`)
            span.setAttributes({
              'http.request.method': method,
              'http.route': route,
              ...(status === undefined ? {} : { 'http.response.status_code': status }),
            })
            if (status !== undefined && status >= 500)
              span.setStatus({ code: SpanStatusCode.ERROR })
          }
          span.end()
        },
      }
    },

    span<T>(
      { name, kind = 'internal', attributes, isRoot = false }: SpanOptions,
      work: () => Promise<T>,
    ): Promise<T> {
      const parent = isRoot ? undefined : active.getStore()
      // Most traces are unsampled, and their child spans have no overhead.
      if (!isRoot && !parent?.isRecording()) return work()
      const context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT
      return within(
        tracer.startSpan(
          name,
          { kind: kinds[kind], ...(attributes ? { attributes } : {}) },
          context,
        ),
        work,
      )
    },

    detached: work => active.run(undefined, work),

    headers() {
      const span = active.getStore()
      const headers: Record<string, string> = {}
      const context = span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT
      propagator.inject(context, headers, {
        set: (carrier, name, value) => Object.assign(carrier, { [name]: value }),
      })
      return headers
    },

    stop: () => provider.shutdown(),
  }
}
