// Constructors of part events, shared by all formats.

import type { PartEvent } from '../contract/messages.ts'
import type { Json } from './format.ts'

/**
 * The next index of a block, item or call. Counted here, because providers reuse indexes. Changes
 * `stream` in place.
 */
export function newIndex(stream: { count: number }): number {
  stream.count += 1
  return stream.count - 1
}

export function partEvent(kind: PartEvent['kind'], index: number, text: string): PartEvent {
  return { kind, index, id: null, name: null, text }
}

/** The characters of a part that no client runs, for the log. Images and search results are larger. */
export const keptApartMax = 16_384

/** Code that the provider ran, images and unknown parts: never calls. */
export function keptApart(stream: { count: number }, part: Json): PartEvent[] {
  const text = JSON.stringify(part)
  const isKept = text !== '{}' && text.length <= keptApartMax
  return isKept ? [partEvent('kept_apart', newIndex(stream), text)] : []
}

/** Returns no event for an empty text. */
export function textEvents(kind: PartEvent['kind'], index: number, text: unknown): PartEvent[] {
  return typeof text === 'string' && text !== '' ? [partEvent(kind, index, text)] : []
}
