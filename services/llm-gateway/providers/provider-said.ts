// What a provider said about a response beside its content: kept in the log as it came, for people
// who look for the response in the provider's own records. Nothing decides by it.

import type { PartEvent } from '../../../shared/contract/messages.ts'
import { partEvent } from '../wire/part-events.ts'

const bytesMax = 4_096

/**
 * `said`: by name; what is undefined or empty was not said. No event where nothing was, or more
 * than anybody would say.
 */
export function providerSaid(index: number, said: Record<string, unknown>): PartEvent[] {
  const given = Object.entries(said).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  const text = JSON.stringify(Object.fromEntries(given))
  if (given.length === 0 || text.length > bytesMax) return []
  return [partEvent('provider_said', index, text)]
}
