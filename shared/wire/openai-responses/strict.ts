// The strict reading of answers of Responses, and their printing.
// Each item begins once and ends once, in its place. The final output repeats the
// items or is empty, so it has no call that no item had.
// Items of an unknown type could be calls, so no answer with one is accepted.

import { limits } from '../../contract/limits.ts'
import { isObject, jsonText } from '../../lib/json/json-object.ts'
import { freeTextArguments } from '../../transcript/transcript.ts'
import { stopOfWord } from '../answer-stop.ts'
import { type AnswerItem, callsOfAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'
import { listIn } from '../request/content.ts'
import { checkNoCall, only } from '../strict/call-like.ts'
import {
  type ClientStream,
  fault,
  type NotRun,
  type StrictAnswer,
  type StrictFormat,
  type StrictReader,
  scalarText,
  strictAnswer,
} from '../strict/strict.ts'
import { usageIn, usageSum } from '../strict/usage-sum.ts'
import { printedError } from '../strict/vendor-error.ts'
import { errorEvent, itemOf } from './answer.ts'
import { itemEvents } from './item-events.ts'
import { toolName } from './tool-name.ts'
import { responsesUsage } from './usage.ts'

export const responsesStrict: StrictFormat = {
  ping: ': ping\n\n',
  whole: wholeResponse,
  stream: eventReader,
  body: (answer, usage) => ({
    ...answer.vendor,
    output: printed(answer),
    usage: usage ?? answer.rawUsage ?? null,
  }),
  client: clientStream,
  error: printedError,
  repeated: (answer, results, request) => [
    ...printed(answer).filter((item) => isKept(item, request)),
    ...results.map((result) => resultOf(result, answer)),
  ],
}

function printed({ id, items }: StrictAnswer): Json[] {
  return items.map((item, at) => itemOf(item, `${id}_${at}`))
}

function resultOf({ callId, text }: NotRun, answer: StrictAnswer): Json {
  const call = callsOfAnswer(answer).find(({ id }) => id === callId)
  const isCustom = call?.vendor?.type === 'custom_tool_call'
  const type = isCustom ? 'custom_tool_call_output' : 'function_call_output'
  return { type, call_id: callId, output: text }
}

/** Without storage the provider knows no reasoning by its id: it must come back encrypted. */
function isKept({ type, encrypted_content: encrypted }: Json, { store }: Json): boolean {
  return type !== 'reasoning' || store !== false || typeof encrypted === 'string'
}

/** The items that no client runs, and the beginnings of the types of their events. */
const eventsOf: Record<string, RegExp> = {
  message: /^response\.(content_part|output_text|refusal)\./,
  reasoning: /^response\.(content_part|reasoning)/,
  web_search_call: /^response\.web_search_call\./,
  file_search_call: /^response\.file_search_call\./,
  code_interpreter_call: /^response\.code_interpreter_call/,
  image_generation_call: /^response\.image_generation_call\./,
  mcp_call: /^response\.mcp_call/,
  mcp_list_tools: /^response\.mcp_list_tools\./,
  compaction: /^response\.compaction\./,
  function_call: /^response\.function_call_arguments\.(delta|done)$/,
  custom_tool_call: /^response\.custom_tool_call_input\.(delta|done)$/,
}

function isCallType(type: unknown): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

/** The members of items that the provider runs. Their values are opaque. */
const ofProvider = [
  ...['type', 'action', 'queries', 'results', 'result', 'code', 'outputs', 'output', 'tools'],
  ...['name', 'arguments', 'error'],
]

/** The members that name a tool. */
const ofTool = ['type', 'namespace', 'name']
/** The members of a call that the client gets. Others could mean another tool to it. */
const ofCall = ({ type }: Json): string[] => [
  ...[...ofTool, 'id', 'call_id', 'status', 'async', 'caller'],
  type === 'function_call' ? 'arguments' : 'input',
]

function argumentsIn({ type, arguments: text, input }: Json): string {
  const given = (type === 'custom_tool_call' ? input : text) ?? ''
  if (typeof given !== 'string') throw fault('the arguments of a call are no text')
  return given
}

/** Throws for an item that could be a call of an unknown form. */
function checkItem(item: unknown): asserts item is Json & { type: string } {
  if (!isObject(item) || typeof item.type !== 'string') throw fault('an item of it has no type')
  if (!Object.hasOwn(eventsOf, item.type)) throw fault('it has an item that Weir does not know')
  const { type } = item
  if (type === 'message') {
    if (item.role !== 'assistant') throw fault('it has a message of somebody else')
    checkNoCall(item, [])
  }
  if (type === 'reasoning') checkNoCall(item, [])
  if (/_call$|^mcp_/.test(type) && !isCallType(type)) checkNoCall(item, ofProvider)
  if (!isCallType(type)) return
  const { call_id: id, name, namespace } = item
  checkNoCall(item, ofCall(item))
  if (typeof id !== 'string' || typeof name !== 'string' || name === '')
    throw fault('a call of it has no name or no id')
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string')
    throw fault('the namespace of a call is no text')
  if (namespace && `${namespace}${name}`.includes('.'))
    throw fault('the namespace of a call, or its name, has a dot')
}

function answerItem(item: Json): AnswerItem {
  const { type, call_id: id } = item
  if (type === 'message') return { kind: 'text', text: textIn(item), vendor: item }
  if (!isCallType(type)) return { kind: 'vendor', vendor: item }
  const text = argumentsIn(item)
  const given = type === 'custom_tool_call' ? freeTextArguments(text) : text
  const call = { id: jsonText(id), name: `${toolName(item)}`, arguments: given }
  return { kind: 'call', ...call, vendor: only(item, ofCall(item)) }
}

function textIn({ content }: Json): string {
  return listIn(content)
    .map(({ text, refusal }) => text ?? refusal)
    .filter((text) => typeof text === 'string')
    .join('')
}

function answerOf(vendor: Json, items: AnswerItem[]): StrictAnswer {
  const rawUsage = usageIn(vendor.usage)
  const { status, incomplete_details: details } = vendor
  const reason = isObject(details) && typeof details.reason === 'string' ? details.reason : ''
  const finish = status === 'incomplete' ? reason || 'max_output_tokens' : ''
  const stop = finish === '' ? 'end' : stopOfWord(finish)
  const { id, model } = vendor
  const own = { vendor, rawUsage, usageOf: responsesUsage }
  return strictAnswer({ id, model, items, stop, finish, ...own })
}

const ofResponse = [
  ...['output', 'tools', 'tool_choice', 'parallel_tool_calls', 'max_tool_calls', 'instructions'],
  ...['prompt', 'text', 'metadata', 'reasoning', 'usage'],
]

/** Members of a response next to its output. Those that repeat the request have free names. */
function checkResponse(response: unknown): asserts response is Json {
  if (!isObject(response)) throw fault('it is no response')
  if (response.error !== undefined && response.error !== null)
    throw fault('the provider reports an error in it')
  checkNoCall(response, ofResponse)
}

function wholeResponse(body: Json): StrictAnswer {
  checkResponse(body)
  const { object, status, output } = body
  if (object !== 'response' || !Array.isArray(output)) throw fault('it is no response')
  if (status !== 'completed' && status !== 'incomplete') throw fault('it has no end')
  return answerOf(body, output.map(wholeItem))
}

function wholeItem(item: unknown): AnswerItem {
  checkItem(item)
  return answerItem(item)
}

/** An item in progress. `pieces`: the arguments of its deltas. `done`: its end. */
type OpenItem = { type: string; sent: Json; pieces: string; whole: string[]; done?: AnswerItem }

function eventReader(): StrictReader {
  let begun: Json | undefined
  let final: Json | undefined
  const items: OpenItem[] = []
  let [hasCall, hasFailed] = [false, false]
  const shown = (data: Json): Json[] => (hasCall ? [] : [data])

  function begin(data: Json): Json[] {
    const { response } = data
    checkResponse(response)
    checkNoCall(data, ['response'])
    const output = response.output ?? []
    if (!Array.isArray(output) || output.length > 0) throw fault('it has items before it begins')
    if (begun !== undefined && begun.id !== response.id) throw fault('it begins twice')
    begun ??= response
    return shown(data)
  }

  function addItem(data: Json): Json[] {
    const { item, output_index: index } = data
    checkNoCall(data, ['item'])
    checkItem(item)
    if (index !== items.length) throw fault('its items are not in order')
    if (items.length >= limits.responseItemsMax) throw fault('it has too many items')
    hasCall ||= isCallType(item.type)
    items.push({ type: item.type, sent: item, pieces: '', whole: [] })
    return shown(data)
  }

  function endItem(data: Json): Json[] {
    const { item, output_index: index } = data
    checkNoCall(data, ['item'])
    checkItem(item)
    const open = items[index as number]
    if (open === undefined || open.done !== undefined) throw fault('the end of an item has no item')
    const { sent, pieces, whole } = open
    const isSame = [...ofTool, 'call_id'].every((name) => (sent[name] ?? '') === (item[name] ?? ''))
    if (!isSame || isOther(sent.id, item.id)) throw fault('an item of it changes on its way')
    if (isCallType(open.type)) {
      const texts = [argumentsIn(sent), pieces, ...whole].filter((text) => text !== '')
      if (texts.some((text) => text !== argumentsIn(item)))
        throw fault('the arguments of a call change on their way')
    }
    open.done = answerItem(item)
    return shown(data)
  }

  function ofItem(data: Json & { type: string }): Json[] {
    const { type, output_index: index, item_id: id, delta } = data
    const open = items[index as number]
    if (open === undefined || open.done !== undefined) throw fault('an event of it has no item')
    if (!eventsOf[open.type]?.test(type)) throw fault('an event of it does not fit its item')
    if (isOther(open.sent.id, id)) throw fault('an event of it names another item')
    if (!isCallType(open.type)) {
      checkNoCall(data, ['type', 'arguments'])
      return shown(data)
    }
    if (data.name !== undefined && data.name !== null && isOther(open.sent.name, data.name))
      throw fault('a call of it has two names')
    checkNoCall(data, ['type', 'arguments', 'input', 'name'])
    const isDelta = type.endsWith('delta')
    if (isDelta && typeof delta !== 'string') throw fault('a piece of a call is no text')
    if (isDelta) open.pieces += delta as string
    else open.whole.push(argumentsIn({ ...data, type: open.type }))
    return shown(data)
  }

  function endResponse(data: Json): Json[] {
    const { response, type } = data
    checkResponse(response)
    checkNoCall(data, ['response'])
    if (type !== 'response.completed' && type !== 'response.incomplete')
      throw fault('the provider ended it as failed')
    if (isOther(begun?.id, response.id)) throw fault('it ends as another one')
    const ended = items.flatMap(({ done }) => done ?? [])
    if (ended.length < items.length) throw fault('an item of it has no end')
    const output: unknown[] = Array.isArray(response.output) ? response.output : []
    if (output.length > 0 && !isSameOutput(ended, output))
      throw fault('its final output differs from its items')
    final = { ...data, response: { ...response, status: type.slice('response.'.length) } }
    return []
  }

  return {
    read(data) {
      if (data === '[DONE]') {
        if (final === undefined) throw fault('it ends without its last event')
        return []
      }
      if (final !== undefined || hasFailed) throw fault('events follow its end')
      const { type } = data
      if (typeof type !== 'string') throw fault('an event of it has no type')
      if (type === 'error') {
        hasFailed = true
        checkNoCall(data, [])
        return [data]
      }
      if (/^response\.(created|in_progress|queued)$/.test(type)) return begin(data)
      if (type === 'response.output_item.added') return addItem(data)
      if (type === 'response.output_item.done') return endItem(data)
      if (/^response\.(completed|incomplete|failed|cancelled|done)$/.test(type))
        return endResponse(data)
      if (data.output_index !== undefined) return ofItem({ ...data, type })
      if (type.startsWith('response.')) throw fault('it has an event that Weir does not know')
      checkNoCall(data, [])
      return shown(data)
    },
    end() {
      if (hasFailed) throw fault('the provider reports an error in it')
      if (final === undefined) throw fault('the answer was cut')
      const { response } = final as { response: Json }
      const ended = items.flatMap(({ done }) => done ?? [])
      return { ...answerOf(response, ended), vendor: { ...response, final } }
    },
  }
}

function isOther(id: unknown, other: unknown): boolean {
  return id !== undefined && other !== undefined && id !== other
}

function isSameOutput(items: readonly AnswerItem[], output: readonly unknown[]): boolean {
  return (
    items.length === output.length &&
    items.every((item, at) => {
      const other = wholeItem(output[at])
      if (item.vendor?.type !== other.vendor?.type) return false
      if (item.kind === 'text' && other.kind === 'text') return item.text === other.text
      if (item.kind !== 'call' || other.kind !== 'call') return item.kind === other.kind
      return item.id === other.id && item.name === other.name && item.arguments === other.arguments
    })
  )
}

function clientStream(): ClientStream {
  /** The response as it began. */
  let begun: Json | undefined
  /** The items of refused attempts that the client has. */
  let former: Json[] = []
  let sequence = -1
  let visible = ''
  let usage: Json | undefined

  function placed(event: Json): Json[] {
    const { type, response, output_index: index, delta } = event
    if (/^response\.(created|in_progress|queued)$/.test(scalarText(type))) {
      if (former.length > 0 || usage !== undefined)
        return begun === undefined ? numbered(event) : []
      if (isObject(response)) begun ??= response
    }
    if (type === 'response.output_text.delta') visible += scalarText(delta)
    return numbered(
      typeof index === 'number' ? { ...event, output_index: index + former.length } : event,
    )
  }

  function numbered(event: Json): Json[] {
    sequence += 1
    return [{ ...event, sequence_number: sequence }]
  }

  return {
    shown: (events) => events.flatMap(placed),
    rest(answer) {
      const { shown, vendor, rawUsage } = answer
      const { final, ...response } = vendor as { final: Json } & Json
      const own = printed(answer)
      const { id, created_at } = begun ?? response
      const sum = usage === undefined ? {} : { usage: usageSum(usage, rawUsage) ?? null }
      const end = { ...response, output: [...former, ...own], id, created_at, ...sum }
      return [
        ...own.slice(shown).flatMap((item, at) => itemEvents(item, shown + at).flatMap(placed)),
        ...numbered({ ...final, response: end }),
      ]
    },
    denied(answer) {
      usage = usageSum(usage, answer.rawUsage) ?? {}
      former = [...former, ...printed(answer).slice(0, answer.shown)]
    },
    failed: (code, message) => numbered(errorEvent(code, message))[0] as Json,
    text: () => visible,
  }
}
