// Maps the objects of Ollama's answers to part events. Each call is whole. An object with `done: true` ends
// an answer, and nothing else does. Owns: the content of an object, the end of the answer.

import type { PartEvent } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { finishWord, meaningOf } from '../../transcript/finish-reasons.ts'
import { type AnswerKind, type OpenAnswer, openAnswer, spoil } from '../answer-reader.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { ExactValues } from '../exact-json.ts'
import { brokenStream } from '../faults/provider-errors.ts'
import { errorIn, faultOf } from '../faults/sent-errors.ts'
import { shortReason } from '../faults/short-reason.ts'
import type { Json } from '../format.ts'
import { newIndex, partEvent } from '../part-events.ts'
import { metadataEvents } from '../response-metadata.ts'
import { countsIn, ollamaUsage } from './usage.ts'

/** `blocks`: the indexes of the texts. */
type OllamaStream = OpenAnswer & { blocks: Map<string, number>; hasCalls: boolean }

export const ollamaAnswers: AnswerKind<OllamaStream> = {
  begin: ({ secret }) => ({ ...openAnswer(secret), blocks: new Map(), hasCalls: false }),
  read: readObject,
  hasEndMark: false,
  spoil,
  end(answer) {
    if (answer.ended) return []
    answer.ended = true
    return metadataEvents(newIndex(answer), { usage: answer.rawUsage })
  },
  stop({ finish, hasCalls }) {
    if (finish === '') return 'cut'
    return hasCalls && meaningOf(finish) === 'end' ? 'calls' : stopOfWord(finish)
  },
}

function readObject(
  answer: OllamaStream,
  object: Json,
  { exact }: { exact: ExactValues },
): PartEvent[] {
  const error = isObject(object.message)
    ? errorIn({ choices: [], ...object }, null)
    : errorIn(object, null)
  if (error !== undefined) return spoil(answer, faultOf(error))
  const message = isObject(object.message) ? object.message : {}
  const calls: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : []
  const events = [
    ...textEvents(answer, 'reasoning', message.thinking),
    ...textEvents(answer, 'text', message.content),
  ]
  for (const [at, call] of calls.entries()) {
    const called = isObject(call) ? call.function : undefined
    if (!isObject(call) || !isObject(called))
      return spoil(answer, brokenStream('a call of the answer is no object'))
    const text = exact(['message', 'tool_calls', at, 'function', 'arguments']) ?? ''
    events.push(...callEvents(answer, { id: call.id, name: called.name, text }))
  }
  const counts = countsIn(object)
  if (counts !== undefined) Object.assign(answer, { usage: ollamaUsage(counts), rawUsage: counts })
  if (object.done === true) {
    answer.finish = shortReason(finishWord(object.done_reason) || 'stop')
    answer.over = true
  }
  return events
}

function textEvents(answer: OllamaStream, kind: 'text' | 'reasoning', text: unknown): PartEvent[] {
  if (typeof text !== 'string' || text === '') return []
  const index = answer.blocks.get(kind) ?? newIndex(answer)
  answer.blocks.set(kind, index)
  return [partEvent(kind, index, text)]
}

/** Some servers send the arguments as a text, as Chat Completions does. */
function callEvents(
  answer: OllamaStream,
  { id, name, text }: { id: unknown; name: unknown; text: string },
): PartEvent[] {
  answer.hasCalls = true
  const index = newIndex(answer)
  const inner: unknown = text.startsWith('"') ? JSON.parse(text) : text
  return [
    {
      kind: 'call_start',
      index,
      id: typeof id === 'string' && id !== '' ? id : null,
      name: typeof name === 'string' ? name : '',
      text: '',
    },
    ...(text === '' || text === 'null' ? [] : [partEvent('call_arguments', index, `${inner}`)]),
    partEvent('call_end', index, ''),
  ]
}
