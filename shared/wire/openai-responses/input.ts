// A history as input items of the Responses API. Owns: valid items for any history. Does not own:
// the words (utterances.ts), the rest of the request (request.ts).
//
// Every function_call has exactly one function_call_output, after the calls of its
// response and in the same order (I5.4).
// Equal entries give equal items, and more entries only append, so the
// provider's prompt cache holds.
// Reasoning returns unchanged to its own model, before the call that followed it. Only
// encrypted reasoning returns: the provider stores nothing under its id.
// Each message of the model returns with its phase, in its place between the calls.

import type {
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputItem,
  ResponseInputText,
} from 'openai/resources/responses/responses'
import type { Content, HistoryEntry, ReasoningRefusal } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { plainJson } from '../../lib/json/same-json.ts'
import type { Contents } from '../exchange.ts'
import type { Json } from '../format.ts'
import { dataUrl, type SentContent, sentContents } from '../request/contents.ts'
import {
  type CallIds,
  inputOf,
  type SpokenCall,
  usableName,
  utterances,
} from '../request/utterances.ts'

const callIds: CallIds = { taken: /^[\x21-\x7e]{1,64}$/, made: (place) => `call_${place}` }
/** For a refused history: no ids that only the server knows. */
const ownIds: CallIds = { ...callIds, taken: /^(?!)/ }

/**
 * `model`: the model whose reasoning may go back. `rebuilt`: see ProviderRequest. `refused`: the
 * refusal that the request answers. Reasoning cannot be invented here, so any refusal leaves it out.
 */
export type ReturnedItems = {
  model: string
  rebuilt?: boolean
  refused?: ReasoningRefusal
  contents?: Contents | undefined
}

/** `history` in order of turn and round. */
export function responsesInput(
  history: HistoryEntry[],
  { model, rebuilt = false, refused = 'none', contents: known }: ReturnedItems,
): ResponseInputItem[] {
  return utterances(history, rebuilt ? ownIds : callIds).flatMap(
    (utterance): ResponseInputItem[] => {
      if (utterance.by === 'user')
        return [{ role: 'user', content: withContents(utterance, known) }]
      const { text, calls } = utterance
      const own = utterance.thinking.filter((block) => block.model === model)
      const said = placedItems(text, refused === 'none' ? own : [], !rebuilt)
      const before = (call: number) =>
        said.flatMap(({ calls: n, item }) => (n === call ? [item] : []))
      return [
        ...calls.flatMap((spoken, n) => [...before(n), functionCall(spoken)]),
        ...said.flatMap(({ calls: n, item, isText }) =>
          isText && n > 0 && n >= calls.length ? [item] : [],
        ),
        ...(calls.length === 0 ? before(0) : []),
        ...calls.map(({ id, result }) => ({
          type: 'function_call_output' as const,
          call_id: id,
          output: withContents(result, known),
        })),
      ]
    },
  )
}

/** A text alone, or a list that begins with the contents. */
function withContents(
  { text, contents }: { text: string; contents?: Content[] },
  known: Contents | undefined,
): string | SentItem[] {
  const items = sentContents(contents, known).map(itemOf)
  return items.length === 0 ? text : [...items, { type: 'input_text', text }]
}

type SentItem = ResponseInputText | ResponseInputImage | ResponseInputFile

function itemOf(content: SentContent): SentItem {
  switch (content.kind) {
    case 'text':
      return { type: 'input_text', text: content.text }
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: dataUrl(content) }
    case 'pdf':
      return { type: 'input_file', filename: content.name, file_data: dataUrl(content) }
  }
}

/** `calls`: the number of calls that began before it. */
type Placed = { calls: number; item: ResponseInputItem; isText: boolean }

/**
 * The model's reasoning and its text. The text is one message if the
 * recorded phases do not cover it; that has a phase only if there is no other.
 */
function placedItems(text: string, own: Json[], hasReasoning: boolean): Placed[] {
  const phases = own.flatMap((block) => (isPhase(block) ? [block] : []))
  const isCovered =
    phases.length > 0 && phases.reduce((sum, { chars }) => sum + chars, 0) === text.length
  let at = 0
  const items = own.flatMap((block): Placed[] => {
    const reasoning = hasReasoning ? reasoningIn(block) : undefined
    if (reasoning !== undefined) return [{ ...reasoning, isText: false }]
    if (!isCovered || !isPhase(block)) return []
    const content = text.slice(at, at + block.chars)
    at += block.chars
    return content.trim() === '' ? [] : [messageOf(block.calls, content, block.phase)]
  })
  if (isCovered || text === '') return items
  const [only, ...others] = new Set(phases.map(({ phase }) => phase))
  return [...items, messageOf(0, text, others.length === 0 ? only : undefined)]
}

type Phase = { phase: string; chars: number; calls: number }

function isPhase(block: Json): block is Json & Phase {
  const { phase, chars, calls } = block
  return typeof phase === 'string' && typeof chars === 'number' && typeof calls === 'number'
}

function reasoningIn({ item, calls }: Json): Pick<Placed, 'calls' | 'item'> | undefined {
  if (!isObject(item) || typeof item.encrypted_content !== 'string') return undefined
  return typeof calls === 'number'
    ? { calls, item: item as unknown as ResponseInputItem }
    : undefined
}

function messageOf(calls: number, text: string, phase: string | undefined): Placed {
  const content = text.toWellFormed()
  const item = { role: 'assistant', content, ...(phase !== undefined && { phase }) }
  return { calls, item: item as ResponseInputItem, isText: true }
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
