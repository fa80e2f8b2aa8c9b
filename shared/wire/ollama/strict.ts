// The strict reading of answers of Ollama, and their printing.
// OLLAMA-STRICT-1. A call is a name and an object of arguments. An answer ends with `done: true`, and
//     nothing follows.
// OLLAMA-STRICT-2. An object is printed from its values: its texts, its judged calls, and the members
//     that have no call in any reader.

import { isObject } from '../../lib/json/json-object.ts'
import { finishWord, meaningOf } from '../../transcript/finish-reasons.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { AnswerItem } from '../exchange.ts'
import type { Json } from '../format.ts'
import { checkNoCall, only } from '../strict/call-like.ts'
import {
  type ClientStream,
  fault,
  type NotRun,
  type StrictAnswer,
  type StrictFormat,
  type StrictReader,
  strictAnswer,
} from '../strict/strict.ts'
import { usageSum } from '../strict/usage-sum.ts'
import { created_at, messageOf } from './answer.ts'
import { countsIn, ollamaUsage } from './usage.ts'

export const ollamaStrict: StrictFormat = {
  ping: `${JSON.stringify({ model: '', created_at, message: messageOf([]), done: false })}\n`,
  whole: (body) => answerOf([readObject(body)]),
  stream: objectReader,
  body: ({ vendor, items }, usage) => {
    const [last] = vendor.objects as ReadObject[]
    return { ...last?.body, message: messageOf(items), ...usage }
  },
  client: clientStream,
  error: ({ message }) => ({ error: message }),
  repeated: ({ items }, results) => [messageOf(items), ...results.map(resultOf)],
}

function resultOf({ callId, name, text }: NotRun): Json {
  const id = callId === '' ? {} : { tool_call_id: callId }
  return { role: 'tool', tool_name: name, ...id, content: text }
}

/** `body`: the members next to the message. `finish`: empty if the object does not end the answer. */
type ReadObject = { body: Json; items: AnswerItem[]; finish: string }

/** The members that have no call in any reader. */
const ofBody = [
  ...['model', 'created_at', 'message', 'done', 'done_reason', 'total_duration', 'load_duration'],
  ...['prompt_eval_count', 'prompt_eval_duration', 'eval_count', 'eval_duration'],
  ...['remote_model', 'remote_host', 'logprobs'],
]
const ofMessage = ['role', 'content', 'thinking', 'images', 'tool_calls']

function readObject(object: Json): ReadObject {
  checkNoCall(object, ofBody)
  const { message, ...body } = object
  if (!isObject(message)) throw fault('it has no message')
  checkNoCall(message, ofMessage)
  const { role, content = '', thinking = '', tool_calls: calls } = message
  if (role !== 'assistant') throw fault('it is no message of a model')
  if (typeof content !== 'string' || typeof thinking !== 'string')
    throw fault('a text of it is no text')
  if (calls !== undefined && calls !== null && !Array.isArray(calls))
    throw fault('its calls are no list')
  const done = object.done ?? false
  if (typeof done !== 'boolean') throw fault('its end is neither true nor false')
  return {
    body: only(body, ofBody),
    items: [
      ...(thinking === '' ? [] : [{ kind: 'vendor' as const, vendor: { thinking } }]),
      ...(content === '' ? [] : [{ kind: 'text' as const, text: content }]),
      ...(calls ?? []).map(callIn),
    ],
    finish: done ? finishWord(object.done_reason) || 'stop' : '',
  }
}

/** Keeps OLLAMA-STRICT-1. */
function callIn(call: unknown): Extract<AnswerItem, { kind: 'call' }> {
  if (!isObject(call)) throw fault('a call of it is no object')
  const { id = '', type = 'function', function: called, ...others } = call
  if (!isObject(called) || type !== 'function' || Object.keys(others).length > 0)
    throw fault('a call of it has two forms')
  const { name, arguments: args, index, ...members } = called
  if (Object.keys(members).length > 0) throw fault('a call of it has two forms')
  if (typeof id !== 'string') throw fault('a call of it has an id that is no text')
  if (typeof name !== 'string' || name === '') throw fault('a call of it has no name')
  if (args !== undefined && !isObject(args)) throw fault('the arguments of a call are no object')
  return {
    kind: 'call',
    id,
    name,
    arguments: args === undefined ? '' : JSON.stringify(args),
    ...(typeof index === 'number' && { vendor: { index } }),
  }
}

/** Keeps OLLAMA-STRICT-2. */
function printed({ body, items }: ReadObject): Json {
  return { ...body, message: messageOf(items) }
}

/** `held`: the objects that the client has not got yet. */
function answerOf(
  objects: readonly ReadObject[],
  held: readonly ReadObject[] = objects,
): StrictAnswer {
  const last = objects.at(-1)
  if (last === undefined || last.finish === '') throw fault('the answer was cut')
  const items = objects.flatMap((one) => one.items)
  const hasCalls = items.some(({ kind }) => kind === 'call')
  return strictAnswer({
    id: '',
    model: last.body.model,
    items,
    stop: hasCalls && meaningOf(last.finish) === 'end' ? 'calls' : stopOfWord(last.finish),
    finish: last.finish,
    vendor: { objects: held },
    rawUsage: countsIn(last.body),
    usageOf: ollamaUsage,
  })
}

function objectReader(): StrictReader {
  const objects: ReadObject[] = []
  /** The number of objects that the client has. */
  let shown = 0
  let [isHeld, hasFailed] = [false, false]

  return {
    read(data) {
      if (data === '[DONE]') throw fault('it has a mark of another API')
      if (hasFailed || objects.at(-1)?.finish) throw fault('an object follows its end')
      if (data.error !== undefined) {
        hasFailed = true
        return [{ error: typeof data.error === 'string' ? data.error : 'the model server failed' }]
      }
      const object = readObject(data)
      objects.push(object)
      isHeld ||= object.finish !== '' || object.items.some(({ kind }) => kind === 'call')
      if (isHeld) return []
      const fresh = objects.slice(shown)
      shown = objects.length
      return fresh.map(printed)
    },
    end() {
      if (hasFailed) throw fault('the provider reports an error in it')
      return answerOf(objects, objects.slice(shown))
    },
  }
}

function clientStream(): ClientStream {
  let visible = ''
  let needsBlank = false
  let usage: Json | undefined

  /** An object of the model, as one of the client's answer. */
  function placed(object: Json): Json[] {
    const { content = '' } = (object.message ?? {}) as { content?: string }
    visible += content
    const counts = countsIn(object)
    const made = { ...object, ...(counts !== undefined && usageSum(usage, counts)) }
    if (content === '' || !needsBlank) return [made]
    needsBlank = false
    const { model, created_at } = object
    const message = messageOf([{ kind: 'text', text: '\n\n' }])
    return [{ model, created_at, message, done: false }, made]
  }

  return {
    shown: (events) => events.flatMap(placed),
    rest: ({ vendor }) => (vendor.objects as ReadObject[]).map(printed).flatMap(placed),
    denied({ rawUsage }) {
      usage = usageSum(usage, rawUsage)
      needsBlank = visible !== ''
    },
    failed: (_, message) => ({ error: message }),
    text: () => visible,
  }
}
