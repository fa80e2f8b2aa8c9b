// The events of an item of a response, at its place in the output: whole, or as it grows.

import { jsonText } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'
import { listIn } from '../request/content.ts'

export function itemAdded(item: Json, output_index: number): Json {
  return { type: 'response.output_item.added', output_index, item }
}

export function itemDone(item: Json, output_index: number): Json {
  return { type: 'response.output_item.done', output_index, item }
}

/** The events of a whole item. */
export function itemEvents(item: Json, output_index: number): Json[] {
  const { content, name } = item
  const type = jsonText(item.type)
  const parts = type === 'message' ? listIn(content) : []
  const texts = parts.flatMap((part, at) => {
    const { begun, delta, ended } = partEvents(item, output_index, at)
    return [begun, delta(textOf(part)), ...ended]
  })
  const [member, event] = callTexts[type] ?? []
  if (member === undefined) {
    const empty = type === 'message' ? { status: 'in_progress', content: [] } : {}
    return [itemAdded({ ...item, ...empty }, output_index), ...texts, itemDone(item, output_index)]
  }
  const place = placeOf(item, output_index)
  const named = type === 'function_call' ? { name } : {}
  return [
    itemAdded({ ...item, status: 'in_progress', [member]: '' }, output_index),
    { type: `${event}.delta`, ...place, delta: item[member] },
    { type: `${event}.done`, ...place, ...named, [member]: item[member] },
    itemDone(item, output_index),
  ]
}

/** The member of a call with its text, and the events of that. */
const callTexts: Readonly<Record<string, readonly [member: string, event: string]>> = {
  function_call: ['arguments', 'response.function_call_arguments'],
  custom_tool_call: ['input', 'response.custom_tool_call_input'],
}

function placeOf({ id }: Json, output_index: number): Json {
  return { item_id: id, output_index }
}

/** The events of a part of an item: its beginning, a piece of its text, and its end. */
export function partEvents({ id, content }: Json, output_index: number, content_index = 0) {
  const place = { item_id: id, output_index, content_index }
  const part = listIn(content)[content_index] ?? {}
  const member = memberOf(part)
  const name = part.type === 'reasoning_text' || member === 'refusal' ? part.type : 'output_text'
  const logprobs = name === 'output_text' ? { logprobs: [] } : {}
  const type = `response.${name}`
  return {
    begun: { type: 'response.content_part.added', ...place, part: { ...part, [member]: '' } },
    delta: (piece: unknown): Json => ({
      type: `${type}.delta`,
      ...place,
      delta: piece,
      ...logprobs,
    }),
    ended: [
      { type: `${type}.done`, ...place, [member]: textOf(part), ...logprobs },
      { type: 'response.content_part.done', ...place, part },
    ] satisfies Json[],
  }
}

function memberOf({ type }: Json): 'refusal' | 'text' {
  return type === 'refusal' ? 'refusal' : 'text'
}

function textOf(part: Json): unknown {
  return part[memberOf(part)]
}

/** The events of a call that the server runs, in front of its end. */
export function mcpCallBegun(item: Json, output_index: number): Json[] {
  const place = placeOf(item, output_index)
  return [
    itemAdded(item, output_index),
    { type: 'response.mcp_call.in_progress', ...place },
    { type: 'response.mcp_call_arguments.done', ...place, arguments: item.arguments },
  ]
}

export function mcpCallEnded(item: Json, output_index: number): Json[] {
  const end = item.status === 'completed' ? 'completed' : 'failed'
  return [
    { type: `response.mcp_call.${end}`, ...placeOf(item, output_index) },
    itemDone(item, output_index),
  ]
}
