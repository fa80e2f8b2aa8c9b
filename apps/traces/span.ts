// A span of a turn. otlp.ts writes it in OTLP.

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
