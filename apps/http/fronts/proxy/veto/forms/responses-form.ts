// OpenAI's Responses under the veto.
// RESPONSES-FORM-1. Only items whose type is known to be no call of the client go out unjudged, and
//     events of no item without a member that could be a call (call-like.ts).

import { randomUUID } from 'node:crypto'
import { isObject } from '../../../../../../shared/lib/json/json-object.ts'
import { insideOf } from '../../../../../../shared/lib/json/spans.ts'
import { spanAt, spliced, withMember } from '../../../../../../shared/lib/json/spliced.ts'
import type { Json } from '../../../../../../shared/wire/format.ts'
import { listIn } from '../../../../../../shared/wire/request/content.ts'
import { couldBeCall } from './call-like.ts'
import { usageIn, usageSum } from './usage-sum.ts'
import type { ClientStream, EventData, NotRun, VetoForm, WholeAnswer } from './veto-form.ts'

export const responsesForm: VetoForm = {
  isNamed: true,
  ping: ': ping\n\n',
  asksForSeveral: () => false,
  usage: (answer) => usageIn(responseIn(answer)?.usage),
  calls: (answer) => itemsOf(answer).filter(({ data }) => !unheld.test(`${data.type}`)).length,
  repeated: (answer, results, request) => {
    const items = itemsOf(answer).filter((item) => isKept(item.data, request))
    const custom = new Set(
      items.flatMap(({ data }) => (data.type === 'custom_tool_call' ? [data.call_id] : [])),
    )
    return [
      ...items.map(({ text }) => text),
      ...results.map((result) => JSON.stringify(resultOf(result, custom.has(result.callId)))),
    ]
  },
  clientStream,
}

function resultOf({ callId, text }: NotRun, isCustom: boolean): Json {
  const type = isCustom ? 'custom_tool_call_output' : 'function_call_output'
  return { type, call_id: callId, output: text }
}

function responseIn(answer: WholeAnswer): Json | undefined {
  if (answer.kind === 'whole') return answer.body
  const last = answer.events.findLast(({ data }) => isLast(data))
  return last && isObject(last.data.response) ? last.data.response : undefined
}

function isLast({ type }: Json): boolean {
  return /^response\.(completed|incomplete|failed)$/.test(`${type}`)
}

/** The items of the output, unchanged. Some servers leave them out of the last event. */
function itemsOf(answer: WholeAnswer): EventData[] {
  if (answer.kind === 'whole') return itemsAt(answer.text, ['output'])
  const ended = answer.events
    .filter(({ data }) => data.type === 'response.output_item.done')
    .flatMap(({ text, data }) => itemAt(text, data))
  const last = answer.events.findLast(({ data }) => isLast(data))
  return ended.length > 0 || last === undefined ? ended : itemsAt(last.text, ['response', 'output'])
}

function itemAt(text: string, { item }: Json): EventData[] {
  const span = spanAt(text, ['item'])
  return span === undefined || !isObject(item)
    ? []
    : [{ text: text.slice(span.from, span.to), data: item }]
}

function itemsAt(text: string, path: readonly string[]): EventData[] {
  const list = spanAt(text, path)
  if (list === undefined) return []
  return [...insideOf(text, list.from).values()].map(({ from, to }) => {
    const own = text.slice(from, to)
    return { text: own, data: JSON.parse(own) as Json }
  })
}

/** Without storage the provider knows no reasoning by its id: it must come back encrypted. */
function isKept({ type, encrypted_content: encrypted }: Json, { store }: Json): boolean {
  return type !== 'reasoning' || store !== false || typeof encrypted === 'string'
}

const unheld =
  /^(message|reasoning|web_search_call|file_search_call|code_interpreter_call|image_generation_call|mcp_call|mcp_list_tools|compaction)$/

function clientStream(model: string): ClientStream {
  /** The indexes of items of this attempt that may pass. */
  const passing = new Set<unknown>()
  let isFirst = true
  /** The response as it began, and its id. */
  let begun: Json | undefined
  /** Whole items of refused attempts that the client has, and of this one. */
  let former: string[] = []
  let own: string[] = []
  let base = 0
  let out = 0
  let sequence = -1
  let visible = ''
  let usage: Json | undefined

  function note(text: string, data: Json): void {
    const { type, response, output_index: index, sequence_number: n } = data
    if (type === 'response.output_text.delta') visible += `${data.delta ?? ''}`
    if (begun === undefined && isObject(response)) begun = response
    if (typeof n === 'number') sequence = Math.max(sequence, n)
    if (type === 'response.output_item.added' && typeof index === 'number')
      out = Math.max(out, index + 1)
    if (type === 'response.output_item.done') own.push(...itemAt(text, data).map((one) => one.text))
  }

  function numbered(text: string): string {
    sequence += 1
    const span = spanAt(text, [])
    return span === undefined
      ? text
      : spliced(text, [withMember(text, span, 'sequence_number', `${sequence}`)])
  }

  /** An event of a later attempt. */
  function later(text: string, data: Json): string[] {
    const { output_index: index, response } = data
    if (/^response\.(created|in_progress|queued)$/.test(`${data.type}`)) return []
    if (isObject(response)) return [numbered(asOne(text, response))]
    const span = spanAt(text, ['output_index'])
    return [
      numbered(
        span === undefined || typeof index !== 'number'
          ? text
          : spliced(text, [{ ...span, text: `${index + base}` }]),
      ),
    ]
  }

  /** The end of the last attempt as the end of the whole stream. */
  function asOne(text: string, response: Json): string {
    const output = spanAt(text, ['response', 'output'])
    const id = spanAt(text, ['response', 'id'])
    const counts = spanAt(text, ['response', 'usage'])
    const sum = usageSum(usage, usageIn(response.usage))
    const items =
      output === undefined ? [] : [...former, text.slice(output.from + 1, output.to - 1).trim()]
    return spliced(text, [
      ...(output === undefined
        ? []
        : [{ ...output, text: `[${items.filter((item) => item !== '').join(',')}]` }]),
      ...(id === undefined || begun === undefined
        ? []
        : [{ ...id, text: JSON.stringify(begun.id) }]),
      ...(counts === undefined || sum === undefined
        ? []
        : [{ ...counts, text: JSON.stringify(sum) }]),
    ])
  }

  const event = (type: string, rest: Json) => numbered(JSON.stringify({ type, ...rest }))

  return {
    passes(data) {
      const { type, item, output_index: index, response } = data
      if (type === 'error') return true
      if (/^response\.(created|in_progress|queued)$/.test(`${type}`))
        return isObject(response) && listIn(response.output).length === 0
      const isUnheld = isObject(item) && unheld.test(`${item.type}`)
      if (item !== undefined && !isUnheld) return false
      if (index === undefined && item === undefined)
        return response === undefined && typeof type === 'string' && !couldBeCall(data)
      if (type !== 'response.output_item.added') return index !== undefined && passing.has(index)
      if (!isUnheld) return false
      passing.add(index)
      return true
    },
    shownText: () => visible,
    shown(text, data) {
      if (data === undefined) return isFirst || text === '[DONE]' ? [text] : []
      const events = isFirst ? [text] : later(text, data)
      for (const one of events)
        note(isFirst ? one : text, {
          ...data,
          sequence_number: isFirst ? data.sequence_number : -1,
        })
      return events
    },
    refused(spent) {
      usage = usageSum(usage, spent)
      former = [...former, ...own]
      base += out
      ;[own, out, isFirst] = [[], 0, false]
      passing.clear()
      return []
    },
    ended(text) {
      const response = {
        ...(begun ?? { id: 'weir', object: 'response', created_at: 0, model }),
        status: 'completed',
      }
      const started =
        begun === undefined
          ? [event('response.created', { response: { ...response, output: [], usage: null } })]
          : []
      const message = messageOf(text)
      const output = [...former.map((item) => JSON.parse(item) as unknown), message]
      return [
        ...started,
        ...eventsOf(message, base).map(({ type, ...rest }) => event(type, rest)),
        event('response.completed', { response: { ...response, output, usage: usage ?? null } }),
      ]
    },
    failed: (code, message) => event('error', { code, message, param: null }),
  }
}

type Message = Json & { id: string; content: [Json & { text: string }] }

function messageOf(text: string): Message {
  return {
    id: `msg_weir_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}

/** The events of a message at this place of the output. */
function eventsOf(item: Message, output_index: number): (Json & { type: string })[] {
  const [part] = item.content
  const place = { item_id: item.id, output_index, content_index: 0 }
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: part.text, logprobs: [] },
    { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index, item },
  ]
}
