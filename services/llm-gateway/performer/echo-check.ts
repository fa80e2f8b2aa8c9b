// The texts of a conversation that a call in the model's text may repeat. The gateway has the
// history, so its performer checks for echoes and stamps the result on attempt-finished (R2).
// Messages of the user and outputs of tools count. Texts of Weir and of guards about
// calls that did not run do not count: they quote the model's own calls.
// Every visible text is checked, also next to a piece of a native call. The accumulator
// alone decides whether pieces make a call. A check that fails counts as an echo.

import { quoted } from '../../../shared/contract/arguments/name-text.ts'
import type { EarlierText } from '../../../shared/contract/call/echo-check.ts'
import type { HistoryEntry, ResultStatus } from '../../../shared/contract/messages.ts'

/** Newest first. */
export function* earlierTexts(history: readonly HistoryEntry[]): Generator<EarlierText> {
  for (const { user, response, results } of history.toReversed()) {
    if (user !== null) yield { source: 'a message of the user', text: user }
    for (const { ordinal, status, text } of results) {
      const name = response?.calls.find((call) => call.ordinal === ordinal)?.name ?? ''
      if (isOutput(status)) yield { source: `a result of the tool ${quoted(name)}`, text }
    }
  }
}

function isOutput(status: ResultStatus): boolean {
  return status !== 'denied' && status !== 'skipped'
}
