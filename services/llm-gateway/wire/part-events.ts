// The events of parts that every format makes alike.

import type { PartEvent } from '../../../shared/contract/messages.ts'

/**
 * Our own count of blocks, items and calls in a response: providers reuse their indexes. Changes it
 * in place.
 */
export function newIndex(stream: { count: number }): number {
  stream.count += 1
  return stream.count - 1
}

export function partEvent(kind: PartEvent['kind'], index: number, text: string): PartEvent {
  return { kind, index, id: null, name: null, text }
}

/** None, where nothing is said. */
export function textEvents(kind: PartEvent['kind'], index: number, text: unknown): PartEvent[] {
  return typeof text === 'string' && text !== '' ? [partEvent(kind, index, text)] : []
}
