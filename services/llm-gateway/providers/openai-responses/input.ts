// A history as input items of the Responses API. Owns: valid items for any history. Does not own:
// the words (utterances.ts), the rest of the request (request.ts).
//
// INPUT-1. Every function_call has exactly one function_call_output, after the calls of its
//     response and in the same order (I5.4).
// INPUT-2. Equal entries give equal items, and more entries only append (UTTERANCES-2), so the
//     provider's prompt cache holds.
// INPUT-3. Reasoning returns unchanged to its own model, before the call that followed it. Only
//     encrypted reasoning returns: the provider stores nothing under its id.

import type { ResponseInputItem } from 'openai/resources/responses/responses'
import type { HistoryEntry } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { plainJson } from '../../../../shared/lib/json/same-json.ts'
import { type CallIds, inputOf, type SpokenCall, usableName, utterances } from '../utterances.ts'

const callIds: CallIds = { taken: /^[\x21-\x7e]{1,64}$/, made: (place) => `call_${place}` }
/** For a refused history: no ids that only the server knows. */
const ownIds: CallIds = { ...callIds, taken: /^(?!)/ }

/**
 * `history` in order of turn and round. `model`: the model whose reasoning may go back. `rebuilt`:
 * see ProviderRequest.
 */
export function responsesInput(
  history: HistoryEntry[],
  model: string,
  rebuilt = false,
): ResponseInputItem[] {
  return utterances(history, rebuilt ? ownIds : callIds).flatMap(
    (utterance): ResponseInputItem[] => {
      if (utterance.by === 'user') return [{ role: 'user', content: utterance.text }]
      const reasoning = rebuilt ? [] : reasoningOf(utterance.thinking, model)
      const before = (call: number) =>
        reasoning.flatMap(({ calls, item }) => (calls === call ? [item] : []))
      return [
        ...(utterance.calls.length === 0 && utterance.text === '' ? [] : before(0)),
        ...(utterance.text === '' ? [] : [{ role: 'assistant' as const, content: utterance.text }]),
        ...utterance.calls.flatMap((spoken, n) => [
          ...(n === 0 ? [] : before(n)),
          functionCall(spoken),
        ]),
        ...utterance.calls.map(({ id, result }) => ({
          type: 'function_call_output' as const,
          call_id: id,
          output: result.text,
        })),
      ]
    },
  )
}

/** `calls`: the number of calls that began before it. */
function reasoningOf(
  thinking: Record<string, unknown>[],
  model: string,
): { calls: unknown; item: ResponseInputItem }[] {
  return thinking.flatMap((block) => {
    const { item, calls } = block
    if (block.model !== model || !isObject(item) || typeof item.encrypted_content !== 'string')
      return []
    return [{ calls, item: item as unknown as ResponseInputItem }]
  })
}

function functionCall({ id, call }: SpokenCall): ResponseInputItem {
  const sendable = JSON.stringify(inputOf(call))
  return {
    type: 'function_call',
    call_id: id,
    name: usableName(call.name, 64),
    arguments: plainJson(call.raw) === sendable ? call.raw : sendable,
  }
}
