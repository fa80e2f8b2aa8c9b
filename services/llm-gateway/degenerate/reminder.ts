// Adds a reminder to the request after a response that repeated itself without end.

import { endlessText } from '../../../shared/model-texts/requests.ts'
/** The text at the top of the repeated request. `nudge`: the round's own; null: none. */
export function withReminder(nudge: string | null): string {
  return nudge === null ? endlessText : `${nudge}\n\n${endlessText}`
}
