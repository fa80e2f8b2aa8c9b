// The strict reading of answers of Anthropic's Messages, and their printing.
// Blocks come one after another, each with one place and its kinds of deltas. A
// block of an unknown type could be a call, so no answer with one is accepted.

import { limits } from '../../contract/limits.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
import type { AnswerItem } from '../exchange.ts'
import type { Json } from '../format.ts'
import { checkNoCall, only, signatures } from '../strict/call-like.ts'
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
import { blockEvents, blockOf } from './answer.ts'
import { messagesUsage } from './usage.ts'

export const messagesStrict: StrictFormat = {
  ping: 'event: ping\ndata: {"type": "ping"}\n\n',
  whole: wholeMessage,
  stream: messageReader,
  body: ({ vendor, items, rawUsage }, usage) => ({
    ...vendor,
    content: items.map(blockOf),
    usage: usage ?? rawUsage,
  }),
  client: clientStream,
  error: printedError,
  repeated: ({ items }, results) => [
    { role: 'assistant', content: items.map(repeatedBlock) },
    { role: 'user', content: results.map(resultBlock) },
  ],
}

/** The API takes objects only. The result of such a call describes its fault. */
function repeatedBlock(item: AnswerItem): Json {
  if (item.kind !== 'call' || isObject(boundedJson(item.arguments, limits.jsonDepthMax)))
    return blockOf(item)
  return blockOf({ ...item, arguments: '{}' })
}

function resultBlock({ callId, text }: NotRun): Json {
  return { type: 'tool_result', tool_use_id: callId, content: text, is_error: true }
}

/** The members of a message and of its end that have no call in any reader. */
const ofMessage = ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence']
const ofEnd = ['usage', 'context_management', 'container']

function wholeMessage(body: Json): StrictAnswer {
  const { type, role, content, stop_reason } = body
  if (type !== 'message' || role !== 'assistant' || !Array.isArray(content))
    throw fault('it is no message of an assistant')
  if (finishWord(stop_reason) === '') throw fault('it has no end')
  checkNoCall(body, [...ofMessage, ...ofEnd])
  return answerOf(body, content.map(wholeBlock), usageIn(body.usage))
}

function answerOf(vendor: Json, items: AnswerItem[], rawUsage: Json | undefined): StrictAnswer {
  const { id, model, stop_reason: reason } = vendor
  const own = { vendor, rawUsage, usageOf: messagesUsage }
  return strictAnswer({ id, model, items, finish: finishWord(reason), ...own })
}

/** A block in progress. `pieces`: the text of its deltas. */
type OpenBlock = { block: Json; pieces: Map<string, string>; citations: unknown[] }

/** The kind of delta, the field that it adds to, and the blocks that have it. */
const deltas = new Map<string, { field: string; member: string; blocks: RegExp }>(
  Object.entries({
    text_delta: { field: 'text', member: 'text', blocks: /^text$/ },
    thinking_delta: { field: 'thinking', member: 'thinking', blocks: /^thinking$/ },
    signature_delta: { field: 'signature', member: 'signature', blocks: /^thinking$/ },
    input_json_delta: { field: 'input', member: 'partial_json', blocks: /_use$/ },
    compaction_delta: { field: 'content', member: 'content', blocks: /^compaction$/ },
  }),
)

/** Blocks that no client runs. Those of the provider's own tools are opaque. */
const ofProvider =
  /^(redacted_thinking|server_tool_use|mcp_tool_use|compaction|[a-z_]+_tool_result)$/

/** The tools of the API. Some gateways hand such a block to their clients as a call. */
const serverTool =
  /^(web_(search|fetch)|(bash_|text_editor_)?code_execution|tool_search_tool_(regex|bm25)|advisor)$/

/** The members of a call that the client gets. Others could mean another tool to it. */
const ofCall = ['type', 'id', 'name', 'input', 'caller']

/** Throws for a block that could be a call of an unknown form. */
function checkBlock(block: unknown): asserts block is Json {
  if (!isObject(block)) throw fault('a block of it is no object')
  const type = scalarText(block.type)
  if (type === 'text') checkNoCall(block, ['type', 'text', 'citations'])
  else if (type === 'thinking') checkNoCall(block, ['type', 'thinking', 'signature'])
  else if (type === 'tool_use') checkNoCall(block, ofCall)
  else if (!ofProvider.test(type)) throw fault('it has a block that Weir does not know')
  else if (type === 'server_tool_use' && !serverTool.test(scalarText(block.name)))
    throw fault('it has a tool of the provider that Weir does not know')
  else checkNoCall(block, [...ofCall, 'content', 'tool_use_id', 'server_name'])
}

function wholeBlock(block: unknown): AnswerItem {
  checkBlock(block)
  const item = endedBlock({ block, pieces: new Map(), citations: [] })
  return item.kind === 'call' ? { ...item, arguments: item.arguments || '{}' } : item
}

function endedBlock({ block, pieces, citations }: OpenBlock): AnswerItem {
  const { type, id, name, input } = block
  const joined = Object.fromEntries(
    [...pieces].map(([field, text]) => [field, scalarText(block[field]) + text]),
  )
  if (type === 'tool_use') {
    if (typeof id !== 'string' || typeof name !== 'string')
      throw fault('a call of it has no name or no id')
    const given = isEmpty(input) ? '' : JSON.stringify(input)
    return {
      kind: 'call',
      id,
      name,
      arguments: given || (pieces.get('input') ?? ''),
      vendor: only(block, [...ofCall, ...signatures]),
    }
  }
  if (type === 'text') {
    const { text = block.text } = joined
    const cited = citations.length > 0 ? { citations } : {}
    return { kind: 'text', text: scalarText(text), vendor: { ...block, ...cited } }
  }
  const own = pieces.get('input')
  const parsed = own === undefined ? {} : { input: inputOf(own) }
  return { kind: 'vendor', vendor: { ...block, ...joined, ...parsed } }
}

function inputOf(text: string): unknown {
  return text === '' ? {} : (boundedJson(text, limits.jsonDepthMax) ?? {})
}

function isEmpty(input: unknown): boolean {
  return isObject(input) ? Object.keys(input).length === 0 : !input
}

function addPiece(block: Json, pieces: OpenBlock['pieces'], delta: Json): void {
  const kind = deltas.get(scalarText(delta.type))
  const piece = kind && delta[kind.member]
  if (kind === undefined || !kind.blocks.test(scalarText(block.type)) || typeof piece !== 'string')
    throw fault('a piece of it does not fit its block')
  if (kind.field === 'input' && !isEmpty(block.input))
    throw fault('a call of it has its input twice')
  checkNoCall(delta, ['type', kind.member])
  pieces.set(kind.field, `${pieces.get(kind.field) ?? ''}${piece}`)
}

/** The end of a message whose beginning is all of it. */
function foretold(
  { stop_reason, stop_sequence = null }: Json,
  usage: Json | undefined,
): { delta: Json; usage: Json } {
  if (finishWord(stop_reason) === '') throw fault('it has no end')
  return { delta: { stop_reason, stop_sequence }, usage: usage ?? { output_tokens: 0 } }
}

function messageReader(): StrictReader {
  let head: Json | undefined
  const items: AnswerItem[] = []
  let open: OpenBlock | undefined
  /** The members of the events with the end. */
  let end: Json & { delta: Json } = { type: 'message_delta', delta: {} }
  let usage: Json | undefined
  let [hasCall, isOver, hasFailed] = [false, false, false]

  function begin(data: Json): Json[] {
    const { message } = data
    if (head !== undefined) throw fault('it begins twice')
    if (!isObject(message) || message.type !== 'message' || message.role !== 'assistant')
      throw fault('it is no message of an assistant')
    checkNoCall(data, ['message'])
    checkNoCall(message, [...ofMessage, ...ofEnd])
    const content: unknown[] = Array.isArray(message.content) ? message.content : []
    head = message
    usage = usageIn(message.usage)
    const isOpen = finishWord(message.stop_reason) === ''
    const stop = isOpen ? {} : { stop_reason: null }
    const started = { ...data, message: { ...message, content: [], ...stop } }
    return [
      started,
      ...content.flatMap((block) => {
        items.push(wholeBlock(block))
        const item = items.at(-1) as AnswerItem
        hasCall ||= item.kind === 'call'
        return hasCall ? [] : blockEvents(item, items.length - 1)
      }),
    ]
  }

  function startBlock(data: Json): Json[] {
    const { index, content_block: block } = data
    if (open !== undefined || index !== items.length) throw fault('its blocks are not in order')
    if (items.length >= limits.responseItemsMax) throw fault('it has too many blocks')
    checkNoCall(data, ['content_block'])
    checkBlock(block)
    open = { block, pieces: new Map(), citations: [] }
    hasCall ||= block.type === 'tool_use'
    return hasCall ? [] : [data]
  }

  function addDelta(data: Json): Json[] {
    const { index, delta } = data
    if (open === undefined || index !== items.length || !isObject(delta))
      throw fault('a piece of it belongs to no block')
    const { block, pieces, citations } = open
    if (delta.type === 'citations_delta' && block.type === 'text') citations.push(delta.citation)
    else addPiece(block, pieces, delta)
    checkNoCall(data, ['delta'])
    return hasCall ? [] : [data]
  }

  function stopBlock(data: Json): Json[] {
    if (open === undefined || data.index !== items.length)
      throw fault('the end of a block belongs to none')
    checkNoCall(data, [])
    items.push(endedBlock(open))
    open = undefined
    return hasCall ? [] : [data]
  }

  function addEnd(data: Json): Json[] {
    const { delta, usage: counted } = data
    if (!isObject(delta)) throw fault('its end is no object')
    checkNoCall(data, ['delta', ...ofEnd])
    checkNoCall(delta, ['stop_reason', 'stop_sequence', ...ofEnd])
    const isEnd = finishWord(delta.stop_reason) !== ''
    // The API ends no block that a bound of tokens cuts.
    const cut = isEnd && open !== undefined
    const closed = cut ? stopBlock({ type: 'content_block_stop', index: items.length }) : []
    if (open !== undefined) throw fault('a count stands inside a block')
    if (finishWord(end.delta.stop_reason) !== '') throw fault('it ends twice')
    const own = usageIn(counted)
    usage = withNew(usage, own)
    const total = withNew(usageIn(end.usage), own)
    const counts = total === undefined ? {} : { usage: total }
    end = { ...end, ...data, delta: { ...end.delta, ...delta }, ...counts }
    return hasCall || isEnd ? closed : [data]
  }

  function readOther(data: Json): Json[] {
    if (data.type === 'error') {
      hasFailed = true
      checkNoCall(data, [])
      return [data]
    }
    if (data.index !== undefined) throw fault('it has an event that Weir does not know')
    checkNoCall(data, [])
    return hasCall ? [] : [data]
  }

  return {
    read(data) {
      if (data === '[DONE]' || data.type === 'ping') {
        if (data === '[DONE]' && !isOver) throw fault('it ends without its last event')
        return data === '[DONE]' || hasCall || isOver ? [] : [{ type: 'ping' }]
      }
      if (isOver || hasFailed) throw fault('events follow its end')
      const isOfMessage = /^(content_block|message)_/.test(scalarText(data.type))
      if (isOfMessage && head === undefined && data.type !== 'message_start')
        throw fault('it has no beginning')
      switch (data.type) {
        case 'message_start':
          return begin(data)
        case 'content_block_start':
          return startBlock(data)
        case 'content_block_delta':
          return addDelta(data)
        case 'content_block_stop':
          return stopBlock(data)
        case 'message_delta':
          return addEnd(data)
        case 'message_stop':
          checkNoCall(data, [])
          isOver = true
          return []
        default:
          return readOther(data)
      }
    },
    end() {
      if (hasFailed) throw fault('the provider reports an error in it')
      if (head === undefined || !isOver || open !== undefined) throw fault('the answer was cut')
      if (finishWord(end.delta.stop_reason) === '') end = { ...end, ...foretold(head, usage) }
      const { stop_reason } = end.delta
      return { ...answerOf({ ...head, stop_reason }, items, usage), vendor: { ...head, end } }
    },
  }
}

/** Counts are totals, so the newest of each counts. */
function withNew(usage: Json | undefined, counted: Json | undefined): Json | undefined {
  if (counted === undefined) return usage
  const known = Object.entries(counted).filter(([, value]) => value !== null)
  return { ...usage, ...Object.fromEntries(known) }
}

function clientStream(): ClientStream {
  let hasStart = false
  let visible = ''
  /** The blocks of former attempts that the client has. */
  let base = 0
  /** The usage of denied attempts. */
  let usage: Json | undefined

  function placed(event: Json): Json {
    const { index, content_block: block, delta } = event
    const { text } = [delta, block].find(isObject) ?? {}
    if (typeof text === 'string') visible += text
    return typeof index === 'number' ? { ...event, index: index + base } : event
  }

  return {
    shown: (events) =>
      events.flatMap((event) => {
        const isStart = event.type === 'message_start'
        if (isStart && hasStart) return []
        hasStart ||= isStart
        if (event.type === 'message_delta' && usage !== undefined)
          return [{ ...event, usage: usageSum(usage, usageIn(event.usage)) }]
        return [placed(event)]
      }),
    rest({ items, shown, rawUsage, vendor }) {
      const end = vendor.end as Json
      const counted = usage === undefined ? end.usage : usageSum(usage, rawUsage)
      return [
        ...items.slice(shown).flatMap((item, at) => blockEvents(item, shown + at).map(placed)),
        { ...end, ...(counted === undefined ? {} : { usage: counted }) },
        { type: 'message_stop' },
      ]
    },
    denied({ shown, rawUsage }) {
      usage = usageSum(usage, rawUsage)
      base += shown
    },
    failed: (_, message) => ({ type: 'error', error: { type: 'api_error', message } }),
    text: () => visible,
  }
}
