// Turns a round with calls into text, for models and servers that accept no calls in a history.

import type { Call, CallResult, HistoryEntry } from '../../../../shared/contract/messages.ts'
import { resultAsText, unknownResult } from '../../../../shared/model-texts/requests.ts'
import { inputOf } from '../../../../shared/wire/request/utterances.ts'

/**
 * Returns the entry itself if it has no calls, otherwise two entries: the model's text, and the
 * results as a user message. `write` turns the calls into paragraphs.
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
  const resultsText = calls.map((call) => resultText(call, results)).join('\n\n')
  return [
    { ...entry, response: { ...response, text, calls: [] }, results: [] },
    {
      ...entry,
      user: resultsText,
      contents: results.flatMap(({ contents }) => contents),
      response: null,
      results: [],
      note: null,
    },
  ]
}

/** As the model wrote them if they are a usable JSON object, otherwise as inputOf returns them. */
export function argumentsOf(call: Call): string {
  const isUsable = call.problem === null && call.raw.trimStart().startsWith('{')
  return isUsable ? call.raw : JSON.stringify(inputOf(call))
}

function resultText({ ordinal, name }: Call, results: CallResult[]): string {
  const result = results.find((one) => one.ordinal === ordinal)
  if (result === undefined) return resultAsText(name, 'unknown', unknownResult)
  return resultAsText(name, result.status === 'ok' ? 'ok' : 'error', result.text)
}
