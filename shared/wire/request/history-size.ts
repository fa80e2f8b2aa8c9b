// The bytes of a history in a request.

import { limits } from '../../contract/limits.ts'
import type { HistoryEntry } from '../../contract/messages.ts'
import type { Failed } from '../exchange.ts'
import { contextFull } from '../faults/provider-errors.ts'
import { contentsIn } from './contents.ts'

/** The failure of a history that exceeds `limits.historyBytesMax`; undefined: it fits. */
export function historyTooLarge(history: HistoryEntry[]): Failed | undefined {
  const bytes = history.reduce((sum, entry) => sum + historyBytes(entry), 0)
  if (bytes <= limits.historyBytesMax) return undefined
  return contextFull(
    `the conversation's history has ${Math.ceil(bytes)} bytes; at most ${limits.historyBytesMax} are sent`,
  )
}

/** Entries never change, and each further request has the same ones. */
const bytesOf = new WeakMap<HistoryEntry, number>()

/** The bytes of an entry in a request. */
export function historyBytes(entry: HistoryEntry): number {
  const bytes = bytesOf.get(entry) ?? countedBytes(entry)
  bytesOf.set(entry, bytes)
  return bytes
}

function countedBytes(entry: HistoryEntry): number {
  const { user, response, results, note } = entry
  // As base64.
  const contentBytes = contentsIn([entry]).reduce((sum, { bytes }) => sum + bytes * (4 / 3), 0)
  const texts = [user ?? '', note ?? '', ...results.map(({ text }) => text)]
  if (response !== null)
    texts.push(response.text, response.reasoning, ...response.calls.map(({ raw }) => raw))
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), contentBytes)
}
