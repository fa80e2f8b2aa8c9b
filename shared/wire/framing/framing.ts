// How the events of a stream are bytes: from a vendor to the proxy, and on to the client.
// FRAMING-1. Bytes have one reading: a strict reader and a print of one framing mean the same events.
//     Bytes that are no whole events are a StrictFault.

import type { EventData } from '../strict/strict.ts'

export type Framing = {
  /** The content type of a stream. Its media type tells a stream from a whole answer. */
  type: string
  read(): EventReader
  print(events: readonly EventData[]): string | Uint8Array
}

/** Both throw a StrictFault. `end` returns a last event without an end mark. */
export type EventReader = { take(piece: Buffer): EventData[]; end(): EventData[] }

export function isStream({ type }: Framing, contentType: string | undefined): boolean {
  return mediaType(contentType ?? '') === mediaType(type)
}

function mediaType(contentType: string): string {
  return contentType.split(';', 1).join('').trim().toLowerCase()
}
