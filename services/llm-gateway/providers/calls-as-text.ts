// A round with calls as text: what the model wrote, and what it was told. For models and servers
// that get no calls in their history.

import type { Call, CallResult, HistoryEntry } from '../../../shared/contract/messages.ts'
import { unknownResult } from './call-pairs.ts'
import { inputOf } from './spoken-history.ts'

/**
 * The entry itself where it has no calls, else two: the model's words, and the results as the
 * user's. `write`: the calls as paragraphs of the model's.
 */
export function callsAsText(
  entry: HistoryEntry,
  write: (calls: Call[]) => string[],
): HistoryEntry[] {
  const { response, results } = entry
  if (response === null || response.calls.length === 0) return [entry]
  const { calls } = response
  const text = [...(response.text.trim() === '' ? [] : [response.text]), ...write(calls)].join(
    '\n\n',
  )
  const told = calls.map((call) => resultText(call, results)).join('\n\n')
  return [
    { ...entry, response: { ...response, text, calls: [] }, results: [] },
    { ...entry, user: told, response: null, results: [], note: null },
  ]
}

/** As the model wrote them; those that are no JSON object cannot be shown as one. */
export function argumentsOf(call: Call): string {
  const isUsable = call.problem === null && call.raw.trimStart().startsWith('{')
  return isUsable ? call.raw : JSON.stringify(inputOf(call))
}

function resultText({ ordinal, name }: Call, results: CallResult[]): string {
  const result = results.find((one) => one.ordinal === ordinal)
  const status = result === undefined ? 'unknown' : result.status === 'ok' ? 'ok' : 'error'
  return `Result of the tool ${name} (${status}):\n${result?.text ?? unknownResult}`
}
