// The strict reading of answers of Chat Completions, and their printing.
// One choice, in deltas or as a message, and each call in one wrapper that fits its type.
// A piece without an id belongs to the newest call of its index. Some servers give all
// calls of an answer one index, so calls are printed with places of Weir.

import { limits } from '../../contract/limits.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
import { freeTextArguments } from '../../transcript/transcript.ts'
import { type AnswerCall, type AnswerItem, callsOfAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'
import { listIn, textIn } from '../request/content.ts'
import { checkNoCall, isEmptyCall, only, signatures } from '../strict/call-like.ts'
import {
  type ClientStream,
  type EventData,
  fault,
  type NotRun,
  type StrictAnswer,
  type StrictFormat,
  type StrictReader,
  strictAnswer,
} from '../strict/strict.ts'
import { usageIn, usageSum } from '../strict/usage-sum.ts'
import { printedError } from '../strict/vendor-error.ts'
import { chunkWriter, entryOf, errorChunk, isOlder, lastChunk, olderCall } from './answer.ts'
import { memberJoiner } from './joined-members.ts'
import { usageOf } from './usage.ts'

export const chatStrict: StrictFormat = {
  ping: ': ping\n\n',
  whole: wholeCompletion,
  stream: chunkReader,
  body: (answer, usage) => {
    const { choice, message: _, ...body } = answer.vendor as { choice: Json } & Json
    const counted = usage ?? answer.rawUsage
    return {
      ...body,
      choices: [{ ...choice, message: messageOf(answer) }],
      ...(counted === undefined ? {} : { usage: counted }),
    }
  },
  client: clientStream,
  error: printedError,
  repeated: (answer, results) => [
    { ...messageOf(answer), role: 'assistant' },
    ...results.map((result) => resultOf(result, answer)),
  ],
}

/** A call without a wrapper is of the older form, which has one call and no list. */
function resultOf({ callId, name, text }: NotRun, answer: StrictAnswer): Json {
  return callsOfAnswer(answer).some(isOlder)
    ? { role: 'function', name, content: text }
    : { role: 'tool', tool_call_id: callId, content: text }
}

/** The message with its calls printed. */
function messageOf(answer: StrictAnswer): Json {
  const message = answer.vendor.message as Json
  const calls = callsOfAnswer(answer)
  const [first] = calls
  if (first === undefined) return message
  if (isOlder(first)) return { ...message, function_call: olderCall(first) }
  return { ...message, tool_calls: calls.map((call) => entryOf(call)) }
}

/** A call in progress. `vendor`: the members of its entry next to those that are read here. */
type OpenCall = {
  index: number | undefined
  id: string
  wrapper: 'function' | 'custom' | undefined
  isOlder: boolean
  name: string
  text: string
  vendor: Json
}

function callOf({ id, wrapper, isOlder: older, name, text, vendor }: OpenCall): AnswerCall {
  if (name === '') throw fault('a call of it has no name')
  if (older) return { kind: 'call', id, name, arguments: text, vendor: { isOlder: true } }
  if (wrapper !== 'custom') return { kind: 'call', id, name, arguments: text, vendor }
  const free = { ...vendor, type: 'custom' }
  return { kind: 'call', id, name, arguments: freeTextArguments(text), vendor: free }
}

/** Adds the calls in a delta or a message. Throws for one that two clients could read differently. */
function addCalls(calls: OpenCall[], { tool_calls: list, function_call: older }: Json): void {
  if (older !== undefined && !isEmptyCall(older)) addOlder(calls, older)
  if (list === undefined || list === null) return
  if (!Array.isArray(list)) throw fault('its calls are no list')
  for (const entry of list) if (!isEmptyCall(entry)) addEntry(calls, entry)
}

function addOlder(calls: OpenCall[], older: unknown): void {
  if (!isObject(older)) throw fault('a call of it is no object')
  checkNoCall(older, ['name', 'arguments'])
  const known = calls[0] ?? newCall({ isOlder: true })
  if (!known.isOlder) throw fault('it has calls in two forms')
  if (calls.length === 0) calls.push(known)
  addName(known, older.name)
  known.text += pieceOf(older.arguments)
}

function newCall(members: Partial<OpenCall>): OpenCall {
  const empty = { index: undefined, id: '', wrapper: undefined, name: '', text: '', vendor: {} }
  return { ...empty, isOlder: false, ...members }
}

function addEntry(calls: OpenCall[], entry: unknown): void {
  if (!isObject(entry)) throw fault('a call of it is no object')
  const { index, id, type, function: named, custom, ...others } = entry
  if (index !== undefined && !Number.isInteger(index)) throw fault('a call of it has no place')
  checkNoCall(others, [])
  const hasCustom = custom !== undefined && custom !== null
  const hasNamed = named !== undefined && named !== null
  if (hasCustom && hasNamed) throw fault('a call of it has two forms')
  const call = calledAt(calls, index as number | undefined, id)
  if (call.isOlder) throw fault('it has calls in two forms')
  const wrapper = hasCustom ? 'custom' : wrapperOf(type, hasNamed)
  if (wrapper !== undefined && call.wrapper !== undefined && call.wrapper !== wrapper)
    throw fault('a call of it has two forms')
  if (typeof type === 'string' && type !== '' && wrapper !== undefined && type !== wrapper)
    throw fault('the form of a call does not fit its type')
  call.wrapper ??= wrapper
  Object.assign(call.vendor, only(others, signatures))
  const inner = hasCustom ? custom : named
  if (inner === undefined || inner === null) return
  if (!isObject(inner)) throw fault('a call of it is no object')
  const member = hasCustom ? 'input' : 'arguments'
  checkNoCall(inner, ['name', member])
  addName(call, inner.name)
  call.text += pieceOf(inner[member])
}

function wrapperOf(type: unknown, hasNamed: boolean): OpenCall['wrapper'] {
  if (hasNamed || type === 'function') return 'function'
  if (type === 'custom') return 'custom'
  if (type !== undefined && type !== null && type !== '')
    throw fault('it has a call that Weir does not know')
  return undefined
}

function calledAt(calls: OpenCall[], index: number | undefined, id: unknown): OpenCall {
  const isNamed = typeof id === 'string' && id !== ''
  if (!isNamed && id !== undefined && id !== null && id !== '')
    throw fault('a call of it has an id that is no text')
  const known =
    index === undefined
      ? undefined
      : calls.findLast((call) => !call.isOlder && call.index === index)
  if (known !== undefined && (!isNamed || known.id === id)) return known
  const call = newCall({ index, id: isNamed ? id : '' })
  if (calls.length === limits.responseCallsMax)
    throw fault(`it has more than ${limits.responseCallsMax} calls`)
  if (calls.some(({ isOlder: older }) => older)) throw fault('it has calls in two forms')
  calls.push(call)
  return call
}

function addName(call: OpenCall, name: unknown): void {
  if (name === undefined || name === null || name === '') return
  if (typeof name !== 'string' || (call.name !== '' && call.name !== name))
    throw fault('a call of it has two names')
  call.name = name
}

function pieceOf(text: unknown): string {
  if (text === undefined || text === null) return ''
  if (typeof text !== 'string') throw fault('the arguments of a call are no text')
  return text
}

const calling = ['tool_calls', 'function_call']

/** Throws for a member of a message, or of a delta, that could be a call. */
function checkMessage(message: Json): void {
  const { role } = message
  if (role !== undefined && role !== null && role !== '' && role !== 'assistant')
    throw fault('it is no message of an assistant')
  checkNoCall(message, [...calling, 'role'])
}

/** Throws for a choice that is not the only one. */
function onlyChoice(choices: unknown): Json | undefined {
  if (choices === undefined || choices === null) return undefined
  if (!Array.isArray(choices) || choices.length > 1) throw fault('it has more than one choice')
  const choice: unknown = choices[0]
  if (choice === undefined) return undefined
  if (!isObject(choice) || (choice.index ?? 0) !== 0) throw fault('it has more than one choice')
  checkNoCall(choice, ['delta', 'message', 'finish_reason', 'native_finish_reason', 'logprobs'])
  return choice
}

/** The members of a body or a chunk that have no call in any reader. */
const about = ['id', 'object', 'created', 'model', 'choices', 'usage']

function answerOf(
  vendor: Json & { message: Json },
  calls: OpenCall[],
  rawUsage: Json | undefined,
  finish: string,
): StrictAnswer {
  const { content, refusal } = vendor.message
  const text = textIn(content, ['text']) || (typeof refusal === 'string' ? refusal : '')
  const items: AnswerItem[] = [
    ...(text === '' ? [] : [{ kind: 'text' as const, text }]),
    ...calls.map(callOf),
  ]
  const { id, model } = vendor
  return strictAnswer({ id, model, items, finish, vendor, rawUsage, usageOf })
}

function wholeCompletion(body: Json): StrictAnswer {
  checkNoCall(body, about)
  const choice = onlyChoice(body.choices)
  if (choice === undefined || !isObject(choice.message) || choice.delta !== undefined)
    throw fault('it has no message')
  const { message } = choice
  const finish = finishWord(choice.finish_reason)
  if (finish === '') throw fault('it has no end')
  checkMessage(message)
  const calls: OpenCall[] = []
  addCalls(calls, withPlaces(message))
  return answerOf({ ...body, choice, message }, calls, usageIn(body.usage), finish)
}

/** The calls of a whole message are different ones, also with one id. */
function withPlaces({ tool_calls: list, function_call: older }: Json): Json {
  const placed = Array.isArray(list)
    ? list.map((entry: unknown, index) => (isObject(entry) ? { ...entry, index } : entry))
    : list
  return { tool_calls: placed, function_call: older }
}

function chunkReader(): StrictReader {
  /** The members of the first chunk, and the joined ones of the deltas. */
  let head: Json | undefined
  const message: Json = { role: 'assistant', content: null }
  const joinMembers = memberJoiner()
  const calls: OpenCall[] = []
  /** Chunks that wait for the verdict, without their calls. */
  const held: Json[] = []
  let rawUsage: Json | undefined
  let finish = ''
  let [isOver, hasFailed] = [false, false]

  function readChoice(chunk: Json, choice: Json): Json {
    if (choice.message !== undefined && choice.message !== null)
      throw fault('it has a message next to deltas')
    const delta = choice.delta ?? {}
    if (!isObject(delta)) throw fault('a piece of it is no object')
    checkMessage(delta)
    if (finish !== '' && !isEmptyDelta(delta)) throw fault('a text or a call follows its end')
    addCalls(calls, delta)
    const { tool_calls: _, function_call: __, ...plain } = delta
    joinMembers(message, plain)
    const word = finishWord(choice.finish_reason)
    if (finish !== '' && word !== '' && word !== finish) throw fault('it ends twice')
    finish ||= word
    return calls.length === 0 ? chunk : { ...chunk, choices: [{ ...choice, delta: plain }] }
  }

  return {
    read(data) {
      if (data === '[DONE]') {
        if (isOver || hasFailed) throw fault('it ends twice')
        isOver = true
        return []
      }
      if (isOver || hasFailed) throw fault('events follow its end')
      checkNoCall(data, about)
      if (isObject(data.error) && (data.choices === undefined || data.choices === null)) {
        hasFailed = true
        return [data]
      }
      const { choices: _, usage: counted, ...rest } = data
      head ??= rest
      rawUsage = usageIn(counted) ?? rawUsage
      const choice = onlyChoice(data.choices)
      const shown = choice === undefined ? data : readChoice(data, choice)
      if (calls.length === 0 && finish === '') return [shown]
      held.push(shown)
      return []
    },
    end() {
      if (hasFailed) throw fault('the provider reports an error in it')
      if (head === undefined || (finish === '' && !isOver)) throw fault('the answer was cut')
      return answerOf({ ...head, message, held, isOver }, calls, rawUsage, finish)
    },
  }
}

/** Has no content. Some servers send it after the end. */
function isEmptyDelta(delta: Json): boolean {
  return Object.entries(delta).every(
    ([name, value]) => name === 'role' || !value || (Array.isArray(value) && value.length === 0),
  )
}

function clientStream(): ClientStream {
  let isFirst = true
  let hasRole = false
  /** The members of all chunks that stay the same. */
  let stays: Json | undefined
  let visible = ''
  let needsBlank = false
  let usage: Json | undefined
  const writer = () => chunkWriter(stays ?? {})

  function note(event: Json): void {
    if (typeof event.id !== 'string') return
    const names = ['id', 'object', 'created', 'model']
    stays ??= Object.fromEntries(Object.entries(event).filter(([name]) => names.includes(name)))
  }

  /** A chunk of the model, as one of the client's answer. */
  function placed(event: Json): Json[] {
    const text = contentIn(event)
    const counted = usageIn(event.usage)
    note(event)
    const isKnown = hasRole || !roleIn(event) // clients need one role
    if (!isFirst && text === '' && counted === undefined && isOnlyRole(event) && isKnown) return []
    visible += text
    hasRole ||= roleIn(event)
    const same = isFirst || event.id === undefined ? {} : stays
    const sum = isFirst || counted === undefined ? {} : { usage: usageSum(usage, counted) }
    const made = { ...event, ...same, ...sum }
    if (text === '' || !needsBlank) return [made]
    needsBlank = false
    return [writer().text('\n\n'), made]
  }

  function isNeeded(event: Json): boolean {
    return !isOnlyRole(event) || usageIn(event.usage) !== undefined || (!hasRole && roleIn(event))
  }

  return {
    shown: (events) => events.flatMap(placed),
    rest(answer) {
      note(answer.vendor)
      const held = answer.vendor.held as Json[]
      const end = held.findIndex((event) => finishOf(event) !== '')
      const ends = end < 0 ? held.length : end
      return [
        ...held.slice(0, ends).filter(isNeeded).flatMap(placed),
        ...writer().calls(callsOfAnswer(answer)),
        ...held.slice(ends).flatMap(placed),
        ...(usage && !answer.rawUsage ? [writer().usage(usage)] : []),
        lastChunk,
      ] satisfies EventData[]
    },
    denied({ rawUsage }) {
      usage = usageSum(usage, rawUsage)
      isFirst = false
      needsBlank = visible !== ''
    },
    failed: errorChunk,
    text: () => visible,
  }
}

function finishOf({ choices }: Json): string {
  return finishWord(listIn(choices)[0]?.finish_reason)
}

function roleIn({ choices }: Json): boolean {
  return listIn(choices).some(({ delta }) => isObject(delta) && typeof delta.role === 'string')
}

function contentIn({ choices }: Json): string {
  return listIn(choices)
    .map(({ delta }) => (isObject(delta) && typeof delta.content === 'string' ? delta.content : ''))
    .join('')
}

/** The chunk only begins a message, or has nothing else than a call had. */
function isOnlyRole({ choices }: Json): boolean {
  const list = listIn(choices)
  return (
    list.length > 0 &&
    list.every(
      ({ delta, finish_reason: finish = null }) =>
        finish === null && (!isObject(delta) || isEmptyDelta(delta)),
    )
  )
}
