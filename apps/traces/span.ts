// A span, and its form in OTLP/JSON (opentelemetry-proto 1.x, trace.proto).

import type { Milliseconds } from '../../shared/lib/clock.ts'

/** Undefined: the attribute is left out. */
export type AttributeValue = string | number | boolean | string[] | undefined
export type Attributes = Readonly<Record<string, AttributeValue>>

export type SpanEvent = { name: string; time: Milliseconds; attributes: Attributes }

/** Times: append times of the log. `parent`: undefined: the root of its trace. */
export type Span = {
  trace: string
  id: string
  parent: string | undefined
  name: string
  kind: 'internal' | 'client'
  start: Milliseconds
  end: Milliseconds
  attributes: Attributes
  events?: readonly SpanEvent[]
  /** The reason, for people. Undefined: it ended well. */
  error?: string | undefined
}

/** Of trace.proto: SPAN_KIND_INTERNAL, SPAN_KIND_CLIENT; STATUS_CODE_ERROR. */
const kinds = { internal: 1, client: 3 }
const errorCode = 2

export function otlpSpan(span: Span): object {
  return {
    traceId: span.trace,
    spanId: span.id,
    ...(span.parent !== undefined && { parentSpanId: span.parent }),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.start),
    endTimeUnixNano: nanoseconds(Math.max(span.start, span.end)),
    attributes: otlpAttributes(span.attributes),
    ...(span.events !== undefined && {
      events: span.events.map(({ name, time, attributes }) => ({
        timeUnixNano: nanoseconds(time),
        name,
        attributes: otlpAttributes(attributes),
      })),
    }),
    status: span.error === undefined ? {} : { code: errorCode, message: span.error },
  }
}

export function otlpAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: otlpValue(value) }],
  )
}

function otlpValue(value: Exclude<AttributeValue, undefined>): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } }
  if (typeof value === 'string') return { stringValue: value.toWellFormed() }
  if (typeof value === 'boolean') return { boolValue: value }
  // 64-bit integers are texts in the JSON of protobuf.
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function nanoseconds(time: Milliseconds): string {
  return `${BigInt(Math.round(time)) * 1_000_000n}`
}
