// What the parts of a stream weigh where a round's are bounded (R7). Gateway and accumulator weigh
// alike: an answer that the one let pass must not be too much for the other.

import type { PartEvent } from './messages.ts'

/** What an event costs beside its texts in a record, so that empty ones are not free. */
const eventBytes = 12

/** Bytes. */
export function eventWeight({ id, name, text }: PartEvent): number {
  return (
    eventBytes +
    Buffer.byteLength(text) +
    Buffer.byteLength(id ?? '') +
    Buffer.byteLength(name ?? '')
  )
}

/**
 * Bytes of all events of one part. A part without events, which no gateway writes, is not free
 * either.
 */
export function partWeight(events: PartEvent[]): number {
  return events.length === 0
    ? eventBytes
    : events.reduce((bytes, event) => bytes + eventWeight(event), 0)
}
