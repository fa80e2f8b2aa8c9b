// The faults of a request's history that its provider would refuse (I5.4). Our fake server accepts
// anything, so tests check here.

import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { limits } from '../../shared/contract/limits.ts'

type Block = {
  type: string
  id?: string
  tool_use_id?: string
  name?: string
  input?: unknown
  text?: string
  content?: unknown
}

/** The first fault of a request to Anthropic's Messages; undefined: it has none. */
export function requestFault({ messages }: ModelCall): string | undefined {
  const ids = new Set<string>()
  for (const [i, { role, content }] of messages.entries()) {
    const where = `message ${i}`
    if (role !== (i % 2 === 0 ? 'user' : 'assistant')) return `${where} is the ${role}'s`
    if (!Array.isArray(content) || content.length === 0) return `${where} has no blocks`
    const blocks = content as Block[]
    const fault = blocks.map(blockFault).find((found) => found !== undefined)
    if (fault !== undefined) return `${where}: ${fault}`
    const used = idsOf(blocks, 'id')
    const next = messages[i + 1]?.content as Block[] | undefined
    if (JSON.stringify(used) !== JSON.stringify(idsOf(next ?? [], 'tool_use_id')))
      return `${where}: its calls have the results of others next to them, or none`
    for (const id of used) {
      if (ids.has(id)) return `${where}: the id ${id} is used twice`
      ids.add(id)
    }
  }
  const [first] = messages
  if (first === undefined || messages.at(-1)?.role !== 'user')
    return 'the user does not speak first and last'
  const results = (first.content as Block[]).filter(({ type }) => type === 'tool_result')
  if (results.length > 0) return 'it begins with the result of a call'
  return valueFault(messages, 0)
}

/** The depth of a message with its blocks, and the arguments in a block. */
const depthMax = limits.argumentDepthMax + 8

function valueFault(value: unknown, depth: number): string | undefined {
  if (depth > depthMax) return `it is nested deeper than ${depthMax} levels`
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : 'it holds half a character'
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const fault = valueFault(name, depth) ?? valueFault(member, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

function idsOf(blocks: Block[], key: 'id' | 'tool_use_id'): string[] {
  const type = key === 'id' ? 'tool_use' : 'tool_result'
  return blocks.filter((block) => block.type === type).map((block) => block[key] ?? '')
}

function blockFault({ type, id, name, input, text }: Block): string | undefined {
  switch (type) {
    case 'text':
      return text?.trim() ? undefined : 'a text is blank'
    case 'tool_use':
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id ?? '')) return `the id ${id} has a foreign form`
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name ?? '')) return `the name ${name} has a foreign form`
      return typeof input === 'object' && input !== null && !Array.isArray(input)
        ? undefined
        : 'an input is no object'
    case 'tool_result':
    case 'thinking':
    case 'redacted_thinking':
      return undefined
    default:
      return `there is a block ${type}`
  }
}

type ChatMessage = { role: string; content?: unknown; tool_call_id?: string; tool_calls?: unknown }

/** The first fault of messages for the strictest server of Chat Completions. */
export function chatFault(messages: readonly ChatMessage[]): string | undefined {
  const used = new Set<string>()
  let open: string[] = []
  for (const [n, { role, content, ...message }] of messages.entries()) {
    if (role === 'tool') {
      if (open.shift() !== message.tool_call_id)
        return `message ${n} answers another call than the next one`
      continue
    }
    if (open.length > 0) return `message ${n} stands before the result of ${open[0]}`
    if (typeof content === 'string' && content.trim() === '') return `message ${n} is blank`
    const before = messages[n - 1]?.role
    if (role === 'user' && (before === 'user' || before === 'tool'))
      return `message ${n} is a user's after a ${before}'s`
    if (role !== 'assistant') continue
    if (before === 'assistant') return `message ${n} is the second of the assistant`
    open = ((message.tool_calls ?? []) as { id: string }[]).map(({ id }) => id)
    for (const id of open) {
      if (used.has(id) || !/^[a-zA-Z0-9]{9}$/.test(id))
        return `the id ${id} is used twice or foreign`
      used.add(id)
    }
  }
  if (open.length > 0) return `there is no result of ${open[0]}`
  return messages.at(-1)?.role === 'user' || messages.at(-1)?.role === 'tool'
    ? undefined
    : 'the assistant speaks last'
}
