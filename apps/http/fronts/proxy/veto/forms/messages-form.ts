// Anthropic's Messages under the veto.
// MESSAGES-FORM-1. Only blocks whose type is known to be no call of the client go out unjudged, and
//     unknown events without a member that could be a call (call-like.ts).

import { limits } from '../../../../../../shared/contract/limits.ts'
import { boundedJson } from '../../../../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../../../../shared/lib/json/json-object.ts'
import { spanAt, spliced, withMember } from '../../../../../../shared/lib/json/spliced.ts'
import type { Json } from '../../../../../../shared/wire/format.ts'
import { listIn } from '../../../../../../shared/wire/request/content.ts'
import { couldBeCall } from './call-like.ts'
import { usageIn, usageSum, withUsage } from './usage-sum.ts'
import type { ClientStream, EventData, NotRun, VetoForm, WholeAnswer } from './veto-form.ts'

export const messagesForm: VetoForm = {
  isNamed: true,
  ping: 'event: ping\ndata: {"type": "ping"}\n\n',
  asksForSeveral: () => false,
  usage: (answer) =>
    answer.kind === 'whole' ? usageIn(answer.body.usage) : usageOf(answer.events),
  calls: (answer) =>
    (answer.kind === 'whole'
      ? listIn(answer.body.content)
      : blocksIn(answer.events).map(({ block }) => block)
    ).filter(({ type }) => !unheld.test(`${type}`)).length,
  repeated: (answer, results) => [
    `{"role":"assistant","content":${contentOf(answer)}}`,
    JSON.stringify({ role: 'user', content: results.map(resultBlock) }),
  ],
  clientStream,
}

function resultBlock({ callId, text }: NotRun): Json {
  return { type: 'tool_result', tool_use_id: callId, content: text, is_error: true }
}

/** The counts of message_delta are totals, so they replace those of message_start. */
function usageOf(events: readonly EventData[]): Json | undefined {
  let usage: Json | undefined
  for (const { data } of events) {
    const sent =
      usageIn(data.usage) ?? (isObject(data.message) ? usageIn(data.message.usage) : undefined)
    if (sent === undefined) continue
    const known = Object.entries(sent).filter(([, value]) => value !== null)
    usage = { ...usage, ...Object.fromEntries(known) }
  }
  return usage
}

function contentOf(answer: WholeAnswer): string {
  if (answer.kind === 'whole') {
    const span = spanAt(answer.text, ['content'])
    return span === undefined ? '[]' : answer.text.slice(span.from, span.to)
  }
  return `[${blocksIn(answer.events).map(blockText).join(',')}]`
}

/** A block of a stream: its first text, and the pieces of its fields. */
type Block = { text: string; block: Json; pieces: Map<string, string>; citations: unknown[] }

/** The field that a delta adds to, and the member of the delta with the piece. */
const pieceOf: Record<string, [field: string, member: string]> = {
  text_delta: ['text', 'text'],
  thinking_delta: ['thinking', 'thinking'],
  signature_delta: ['signature', 'signature'],
  input_json_delta: ['input', 'partial_json'],
}

function blocksIn(events: readonly EventData[]): Block[] {
  const blocks = new Map<unknown, Block>()
  for (const { text, data } of events) {
    const { type, index, content_block: block, delta } = data
    for (const [at, own] of startBlocks(text, data).entries())
      blocks.set(`start ${at}`, { ...own, pieces: new Map(), citations: [] })
    if (type === 'content_block_start' && isObject(block)) {
      const span = spanAt(text, ['content_block'])
      const own = span === undefined ? '{}' : text.slice(span.from, span.to)
      blocks.set(index, { text: own, block, pieces: new Map(), citations: [] })
    }
    const known = blocks.get(index)
    if (type !== 'content_block_delta' || known === undefined || !isObject(delta)) continue
    const [field, member] = pieceOf[`${delta.type}`] ?? []
    if (field !== undefined && member !== undefined)
      known.pieces.set(field, `${known.pieces.get(field) ?? ''}${delta[member] ?? ''}`)
    else if (delta.citation !== undefined) known.citations.push(delta.citation)
  }
  return [...blocks.values()]
}

/** Whole blocks in the event that begins a message: calls of a program that the provider runs. */
function startBlocks(text: string, { type, message }: Json): { text: string; block: Json }[] {
  if (type !== 'message_start' || !isObject(message)) return []
  return listIn(message.content).flatMap((block, at) => {
    const span = spanAt(text, ['message', 'content', at])
    return span === undefined ? [] : [{ text: text.slice(span.from, span.to), block }]
  })
}

function blockText({ text, block, pieces, citations }: Block): string {
  let made = text
  const set = (name: string, json: string) => {
    const span = spanAt(made, [])
    if (span !== undefined) made = spliced(made, [withMember(made, span, name, json)])
  }
  for (const [field, piece] of pieces) {
    const before = block[field]
    if (field === 'input') set(field, inputText(piece))
    else set(field, JSON.stringify(typeof before === 'string' ? before + piece : piece))
  }
  if (citations.length > 0) set('citations', JSON.stringify(citations))
  return made
}

/** The API takes objects only. The result of such a call describes its fault. */
function inputText(piece: string): string {
  return isObject(boundedJson(piece, limits.jsonDepthMax)) ? piece : '{}'
}

const unheld =
  /^(text|thinking|redacted_thinking|server_tool_use|mcp_tool_use|compaction|[a-z_]+_tool_result)$/

function clientStream(model: string): ClientStream {
  /** The blocks of this attempt that may pass, by index. */
  const passing = new Map<unknown, unknown>()
  let isFirst = true
  let hasStart = false
  let visible = ''
  /** Blocks of former attempts, and of this one, that the client has. */
  let base = 0
  let out = 0
  let open: number | undefined
  let usage: Json | undefined
  let own: Json | undefined

  function note({ type, index, content_block: block, delta, message, usage: sent }: Json): void {
    if (type === 'message_start') hasStart = true
    const counted = usageIn(sent) ?? (isObject(message) ? usageIn(message.usage) : undefined)
    if (counted !== undefined) own = { ...own, ...withoutNull(counted) }
    if (type === 'content_block_start' && typeof index === 'number') {
      out = Math.max(out, index + 1)
      open = index
    }
    if (type === 'content_block_stop') open = undefined
    const { text } = [delta, block].find(isObject) ?? {}
    if (typeof text === 'string') visible += text
  }

  /** An event of a later attempt. */
  function renumbered(text: string, { type, index }: Json): string[] {
    if (type === 'message_delta') return [withUsage(text, ['usage'], usageSum(usage, own))]
    const span = spanAt(text, ['index'])
    if (span === undefined || typeof index !== 'number') return [text]
    return [spliced(text, [{ ...span, text: `${index + base}` }])]
  }

  return {
    passes(data) {
      const { type, index, content_block: block, delta, message } = data
      switch (type) {
        case 'ping':
        case 'error':
          return true
        case 'message_start':
          return isObject(message) && listIn(message.content).length === 0
        case 'content_block_start': {
          if (!isObject(block) || !unheld.test(`${block.type}`)) return false
          passing.set(index, block.type)
          return true
        }
        case 'content_block_delta': {
          const kind = passing.get(index)
          const isInput = isObject(delta) && delta.type === 'input_json_delta'
          return kind !== undefined && (!isInput || /_tool_use$/.test(`${kind}`))
        }
        case 'content_block_stop':
          return passing.has(index)
        case 'message_stop':
          return false
        case 'message_delta': // some servers count in each piece
          return isObject(delta) && (delta.stop_reason ?? null) === null && !couldBeCall(data)
        default:
          return index === undefined && !couldBeCall(data)
      }
    },
    shownText: () => visible,
    shown(text, data) {
      if (data === undefined) return isFirst ? [text] : []
      const isSecondStart = hasStart && data.type === 'message_start'
      note(data)
      if (isFirst) return [text]
      if (!isSecondStart) return renumbered(text, data)
      return startBlocks(text, data).flatMap((block) => wholeBlock(base + out++, block.text))
    },
    refused(spent) {
      const closing = open === undefined ? [] : [blockStop(open + base)]
      usage = usageSum(usage, spent)
      base += out
      ;[out, open, own, isFirst] = [0, undefined, undefined, false]
      passing.clear()
      return closing
    },
    ended(text) {
      const start = { type: 'message', role: 'assistant', model, content: [], stop_reason: null }
      const counted = usage ?? { input_tokens: 0, output_tokens: 0 }
      return [
        ...(hasStart
          ? []
          : [json({ type: 'message_start', message: { id: 'weir', ...start, usage: counted } })]),
        ...textBlock(base, text),
        json({
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: counted,
        }),
        json({ type: 'message_stop' }),
      ]
    },
    failed: (_, message) => json({ type: 'error', error: { type: 'api_error', message } }),
  }
}

function withoutNull(usage: Json): Json {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))
}

const json = JSON.stringify

function wholeBlock(index: number, block: string): string[] {
  const start = json({ type: 'content_block_start', index, content_block: null })
  return [start.replace('null', () => block), blockStop(index)]
}

function blockStop(index: number): string {
  return json({ type: 'content_block_stop', index })
}

function textBlock(index: number, text: string): string[] {
  return [
    json({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
    json({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
    blockStop(index),
  ]
}
