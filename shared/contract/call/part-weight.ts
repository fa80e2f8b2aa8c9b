// The weight of a stream's parts, of which a round may have a bounded amount (R7). Gateway and
// accumulator must weigh alike: the accumulator must not refuse an answer that the gateway passed.

import type { PartEvent } from '../messages.ts'

/** The weight of an event next to its texts. Empty events must not be free. */
const eventBytes = 12

/** Bytes. */
export function eventWeight({ id, name, text }: PartEvent): number {
  return eventBytes + bytesOf(text) + bytesOf(id) + bytesOf(name)
}

/** Most ids and names are null, and the call of Node is not free. */
function bytesOf(text: string | null): number {
  return text === null || text === '' ? 0 : Buffer.byteLength(text)
}

/**
 * Bytes of all events of one part. A part without events has a weight too, though no gateway writes
 * one.
 */
export function partWeight(events: PartEvent[]): number {
  return events.length === 0
    ? eventBytes
    : events.reduce((bytes, event) => bytes + eventWeight(event), 0)
}
