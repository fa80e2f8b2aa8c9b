// Logs a provider's metadata of a response, for people who look it up in the provider's records. No
// decision depends on it.

import type { PartEvent } from '../contract/messages.ts'
import { partEvent } from './part-events.ts'

const bytesMax = 4_096

/**
 * `metadata`: values by name; undefined and empty ones are dropped. No event if nothing is left, or if
 * it is implausibly large.
 */
export function metadataEvents(index: number, metadata: Record<string, unknown>): PartEvent[] {
  const given = Object.entries(metadata).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  const text = JSON.stringify(Object.fromEntries(given))
  if (given.length === 0 || text.length > bytesMax) return []
  return [partEvent('provider_said', index, text)]
}
