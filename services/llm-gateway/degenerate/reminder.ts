// The text for the model after a response that repeated itself without end. It does not quote the
// response: the model would continue the quotation.

const reminder =
  'Your last response was stopped because it repeated the same text without end. ' +
  'Do not repeat yourself, and answer briefly.'

/** The text at the top of the repeated request. `nudge`: the round's own; null: none. */
export function withReminder(nudge: string | null): string {
  return nudge === null ? reminder : `${nudge}\n\n${reminder}`
}
