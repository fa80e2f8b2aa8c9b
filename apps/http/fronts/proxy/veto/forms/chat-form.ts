// OpenAI's Chat Completions under the veto.
// CHAT-FORM-1. Only deltas without a member that could be a call go out unjudged (call-like.ts).

import { isObject } from '../../../../../../shared/lib/json/json-object.ts'
import { spanAt, spliced } from '../../../../../../shared/lib/json/spliced.ts'
import type { Json } from '../../../../../../shared/wire/format.ts'
import { listIn } from '../../../../../../shared/wire/request/content.ts'
import { couldBeCall, isEmptyCall } from './call-like.ts'
import { usageIn, usageSum } from './usage-sum.ts'
import type { ClientStream, EventData, NotRun, VetoForm, WholeAnswer } from './veto-form.ts'

export const chatForm: VetoForm = {
  isNamed: false,
  ping: ': ping\n\n',
  asksForSeveral: ({ n }) => typeof n === 'number' && n > 1,
  usage: (answer) =>
    answer.kind === 'whole'
      ? usageIn(answer.body.usage)
      : usageIn(answer.events.findLast(({ data }) => usageIn(data.usage))?.data.usage),
  calls: (answer) => messagesIn(answer).reduce((sum, message) => sum + callsIn(message), 0),
  repeated: (answer, results) => {
    const message = messageOf(answer)
    return [message, ...results.map((result) => JSON.stringify(resultOf(result, message)))]
  },
  clientStream,
}

/** A whole answer may have choices that the request did not name. */
function messagesIn(answer: WholeAnswer): Json[] {
  if (answer.kind === 'streamed') return [joined(answer.events)]
  return listIn(answer.body.choices).flatMap(({ message }) => (isObject(message) ? [message] : []))
}

function callsIn({ tool_calls: calls, function_call: call }: Json): number {
  return [calls, isObject(call) ? call : null].flat().filter((one) => !isEmptyCall(one)).length
}

/** A call without an id is of the older form, which has one call and no list. */
function resultOf({ callId, name, text }: NotRun, message: string): Json {
  const { function_call: call, tool_calls: calls } = JSON.parse(message) as Json
  return isObject(call) && listIn(calls).length === 0
    ? { role: 'function', name, content: text }
    : { role: 'tool', tool_call_id: callId, content: text }
}

function messageOf(answer: WholeAnswer): string {
  if (answer.kind === 'streamed') return JSON.stringify(joined(answer.events))
  const span = spanAt(answer.text, ['choices', 0, 'message'])
  return span === undefined ? '{}' : answer.text.slice(span.from, span.to)
}

/** The message that the deltas make: texts are joined, items of lists by their index. */
function joined(events: readonly EventData[]): Json {
  const message: Json = { role: 'assistant', content: null }
  for (const { data } of events)
    for (const { delta } of listIn(data.choices)) if (isObject(delta)) add(message, delta)
  message.role = 'assistant'
  if (Array.isArray(message.tool_calls))
    message.tool_calls = listIn(message.tool_calls)
      .filter((call) => !isEmptyCall(call))
      .map(({ index: _, ...call }) => call)
  return message
}

/** Members whose value is whole in each piece. */
const whole = new Set(['id', 'type', 'index', 'role', 'name', 'format'])

function add(to: Json, piece: Json): void {
  for (const [name, value] of Object.entries(piece)) {
    const known = Object.hasOwn(to, name) ? to[name] : undefined
    if (value === null || value === undefined) to[name] = known ?? null
    else if (typeof value === 'string' && typeof known === 'string' && !whole.has(name))
      to[name] = known + value
    else if (Array.isArray(value)) to[name] = withItems(known, value)
    else if (isObject(value) && isObject(known)) add(known, value)
    else if (value !== '' || known === undefined || known === null)
      to[name] = isObject(value) ? structuredClone(value) : value
  }
}

function withItems(known: unknown, added: unknown[]): unknown[] {
  const items: unknown[] = Array.isArray(known) ? known : []
  for (const item of added) {
    const same = items.findLast((one) => isSameItem(one, item))
    if (isObject(same) && isObject(item)) add(same, item)
    else items.push(structuredClone(item))
  }
  return items
}

/** Some servers give all calls one index and an id each. */
function isSameItem(known: unknown, piece: unknown): boolean {
  if (!isObject(known) || !isObject(piece) || piece.index === undefined) return false
  const isNamed = typeof piece.id === 'string' && piece.id !== ''
  return known.index === piece.index && (!isNamed || known.id === piece.id)
}

function clientStream(model: string): ClientStream {
  let isFirst = true
  /** The members of all chunks that stay the same. */
  let about: Json | undefined
  let visible = ''
  let needsBlank = false
  let usage: Json | undefined
  const chunk = (rest: Json) =>
    JSON.stringify({
      ...(about ?? { id: 'weir', object: 'chat.completion.chunk', created: 0, model }),
      ...rest,
    })
  const delta = (content: Json, finish_reason: string | null) =>
    chunk({ choices: [{ index: 0, delta: content, finish_reason }] })

  function later(text: string, data: Json): string[] {
    const sent = contentIn(data)
    const isEmpty = sent === '' && isOnlyRole(data)
    if (isEmpty) return []
    const id = spanAt(text, ['id'])
    const counted = usageIn(data.usage)
    const counts = counted && spanAt(text, ['usage'])
    const made = spliced(text, [
      ...(id === undefined || about === undefined
        ? []
        : [{ ...id, text: JSON.stringify(about.id) }]),
      ...(counts === undefined
        ? []
        : [{ ...counts, text: JSON.stringify(usageSum(usage, counted)) }]),
    ])
    if (sent === '' || !needsBlank) return [made]
    needsBlank = false
    return [delta({ content: '\n\n' }, null), made]
  }

  return {
    passes({ choices, error }) {
      if (isObject(error) && choices === undefined) return true
      if (choices !== undefined && !Array.isArray(choices)) return false
      const list = listIn(choices)
      return (
        list.length <= 1 &&
        list.every(({ delta, index = 0, finish_reason: finish = null, message }) => {
          const isText = isObject(delta) && !couldBeCall(delta)
          return isText && index === 0 && finish === null && message === undefined
        })
      )
    },
    shownText: () => visible,
    shown(text, data) {
      if (data === undefined) return text === '[DONE]' || isFirst ? [text] : []
      const { id, object, created, model: named } = data
      const events = isFirst ? [text] : later(text, data)
      if (about === undefined && typeof id === 'string')
        about = { id, object, created, model: named }
      visible += contentIn(data)
      return events
    },
    refused(spent) {
      usage = usageSum(usage, spent)
      isFirst = false
      needsBlank = visible !== ''
      return []
    },
    ended(text) {
      return [
        delta({ role: 'assistant', content: needsBlank ? `\n\n${text}` : text }, null),
        delta({}, 'stop'),
        ...(usage === undefined ? [] : [chunk({ choices: [], usage })]),
        '[DONE]',
      ]
    },
    failed: (code, message) =>
      JSON.stringify({ error: { message, type: 'server_error', param: null, code } }),
  }
}

function contentIn({ choices }: Json): string {
  return listIn(choices)
    .map(({ delta }) => (isObject(delta) && typeof delta.content === 'string' ? delta.content : ''))
    .join('')
}

/** The chunk only begins a message, which the client has begun already. */
function isOnlyRole({ choices, usage }: Json): boolean {
  const list = listIn(choices)
  return (
    list.length > 0 &&
    usageIn(usage) === undefined &&
    list.every(
      ({ delta, finish_reason: finish = null }) =>
        finish === null &&
        isObject(delta) &&
        Object.entries(delta).every(
          ([name, value]) => name === 'role' || value === '' || value === null,
        ),
    )
  )
}
