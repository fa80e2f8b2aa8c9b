// Spans and metrics in OTLP, as the packages of OpenTelemetry write it. Loads them, so import this file
// only where something is sent. The SDK's tracer is no help: it makes random ids, and a span of Weir
// ends in another process than it began.

import { type HrTime, SpanKind, SpanStatusCode, TraceFlags, ValueType } from '@opentelemetry/api'
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { version } from '../../shared/lib/version.ts'
import { schemaUrl } from './names.ts'
import type { Metric, MetricsRequest, TracesRequest } from './otlp-request.ts'
import type { Attributes, AttributeValue, Span } from './span.ts'

export type EncodedBody = { type: string; bytes: Uint8Array<ArrayBuffer> }

type ReadableSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number]
type ResourceMetrics = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0]
type MetricData = ResourceMetrics['scopeMetrics'][number]['metrics'][number]

export function encodedRequest(
  request: TracesRequest | MetricsRequest,
  { isBinary }: { isBinary: boolean },
): EncodedBody {
  const bytes =
    request.signal === 'traces'
      ? (isBinary ? ProtobufTraceSerializer : JsonTraceSerializer).serializeRequest(
          readableSpans(request),
        )
      : (isBinary ? ProtobufMetricsSerializer : JsonMetricsSerializer).serializeRequest(
          resourceMetrics(request),
        )
  return {
    type: isBinary ? 'application/x-protobuf' : 'application/json',
    bytes: new Uint8Array(bytes ?? []),
  }
}

const scope = { name: 'weir', version: version() }

/** The packages group spans by the object of their resource and scope. */
function readableSpans({ resource: attributes, spans }: TracesRequest): ReadableSpan[] {
  const resource = resourceFromAttributes(otlpAttributes(attributes))
  const instrumentationScope = { ...scope, schemaUrl }
  return spans.map((span): ReadableSpan => {
    const end = Math.max(span.start, span.end)
    const contextOf = (spanId: string) => ({
      traceId: span.trace,
      spanId,
      traceFlags: TraceFlags.SAMPLED,
    })
    return {
      name: span.name,
      kind: span.kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      spanContext: () => contextOf(span.id),
      ...(span.parent !== undefined && { parentSpanContext: contextOf(span.parent) }),
      startTime: hrTime(span.start),
      endTime: hrTime(end),
      duration: hrTime(end - span.start),
      ended: true,
      status: statusOf(span),
      attributes: otlpAttributes(span.attributes),
      links: [],
      events: (span.events ?? []).map(({ name, time, attributes }) => ({
        name,
        time: hrTime(time),
        attributes: otlpAttributes(attributes),
      })),
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  })
}

function statusOf({ error }: Span): ReadableSpan['status'] {
  return error === undefined
    ? { code: SpanStatusCode.UNSET }
    : { code: SpanStatusCode.ERROR, message: error }
}

function resourceMetrics({ resource, metrics, since, at }: MetricsRequest): ResourceMetrics {
  const times = { startTime: hrTime(since), endTime: hrTime(at) }
  return {
    resource: resourceFromAttributes(otlpAttributes(resource)),
    scopeMetrics: [{ scope, metrics: metrics.map((metric) => metricData(metric, times)) }],
  }
}

function metricData(metric: Metric, times: { startTime: HrTime; endTime: HrTime }): MetricData {
  const { name, unit, description = '' } = metric
  const common = {
    descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const pointOf = <Value>(attributes: Attributes, value: Value) => ({
    ...times,
    attributes: otlpAttributes(attributes),
    value,
  })
  if (metric.kind === 'histogram')
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: metric.points.map(({ attributes, sum, count, buckets }) =>
        pointOf(attributes, {
          sum,
          count,
          buckets: { boundaries: [...metric.bounds], counts: [...buckets] },
        }),
      ),
    }
  const dataPoints = metric.points.map(({ attributes, value }) => pointOf(attributes, value))
  return metric.kind === 'gauge'
    ? { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
    : { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
}

type Value = Exclude<AttributeValue, undefined>

function otlpAttributes(attributes: Attributes): Record<string, Value> {
  const given = Object.entries(attributes).filter(
    (one): one is [string, Value] => one[1] !== undefined,
  )
  return Object.fromEntries(given.map(([key, value]) => [key, wellFormed(value)]))
}

/** A lone surrogate has no UTF-8. */
function wellFormed(value: Value): Value {
  if (typeof value === 'string') return value.toWellFormed()
  return Array.isArray(value) ? value.map((text) => text.toWellFormed()) : value
}

function hrTime(time: Milliseconds): HrTime {
  const whole = Math.round(time)
  return [Math.floor(whole / 1000), (whole % 1000) * 1_000_000]
}
