// Makes any list of messages valid for Anthropic's Messages API (I5.4). Pure. Returns a valid list
// unchanged.
//
// VALID-MESSAGES-1. Every tool_use has exactly one tool_result, first in the next message and in
//     the same order. A lost one becomes unknown; duplicates and strays are dropped.
// VALID-MESSAGES-2. An id changes only if another call has it or its form is foreign.
// VALID-MESSAGES-3. User and assistant alternate, the user is first and last. System messages
//     become the user's and never separate a call from its result.
// VALID-MESSAGES-4. Blank texts and empty messages are dropped. Thinking alone is empty.
// VALID-MESSAGES-5. Provider-run calls keep their place beside their result. Half of such a pair is
//     dropped.

import type {
  ContentBlockParam,
  MessageParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { beginningLost, goOn, unknownResult } from '../../model-texts/requests.ts'
import { type Placed, pairs, uniqueIds } from '../request/call-pairs.ts'

/** A message with a list of blocks. `from`: its source. */
type Spoken = { role: 'user' | 'assistant'; blocks: ContentBlockParam[]; from: MessageParam }

/** A message under construction. `from`: the sources of its blocks; null: added here. */
type Made = {
  role: 'user' | 'assistant'
  blocks: ContentBlockParam[]
  from: Set<MessageParam | null>
}

export type ValidMessage = MessageParam & { role: 'user' | 'assistant' }

export function validMessages(messages: MessageParam[]): ValidMessage[] {
  const spoken = messages.map(asBlocks)
  const results = resultsOf(spoken)
  const blocksOf = new Map(spoken.map(({ from, blocks }) => [from, blocks]))
  const freshId = uniqueIds(/^[a-zA-Z0-9_-]{1,64}$/, (place) =>
    place.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(-64),
  )
  const made: Made[] = []

  for (const message of spoken) {
    const { role, from } = message
    const blocks =
      role === 'user'
        ? message.blocks.filter(isUsers)
        : withoutLonely(distinct(message.blocks.filter(isAssistants)))
    if (!blocks.some(isSomething)) continue
    const ids = new Map(blocks.filter(isCall).map((call) => [call, freshId(call.id)]))
    if (made.length === 0 && role === 'assistant')
      append(made, 'user', [{ type: 'text', text: beginningLost }], null)
    append(
      made,
      role,
      blocks.map((block) => (isCall(block) ? named(block, ids.get(block)) : block)),
      from,
    )
    for (const [call, id] of ids) {
      const result = results.get(call)
      if (result === undefined)
        append(
          made,
          'user',
          [{ type: 'tool_result', tool_use_id: id, content: unknownResult, is_error: true }],
          null,
        )
      else append(made, 'user', [answering(result.block, id)], result.from)
    }
  }
  if (made.at(-1)?.role === 'assistant') append(made, 'user', [{ type: 'text', text: goOn }], null)
  return made.map((message) => asItWas(message, blocksOf))
}

function asBlocks(from: MessageParam): Spoken {
  const role = from.role === 'assistant' ? 'assistant' : 'user'
  return {
    role,
    from,
    blocks:
      typeof from.content === 'string' ? [{ type: 'text', text: from.content }] : from.content,
  }
}

type FoundResult = { block: ToolResultBlockParam; from: MessageParam }

function resultsOf(spoken: Spoken[]): Map<ToolUseBlockParam, FoundResult> {
  const calls: Placed<ToolUseBlockParam>[] = []
  const results: Placed<FoundResult>[] = []
  for (const [at, { role, blocks, from }] of spoken.entries())
    for (const block of role === 'assistant' ? distinct(blocks) : blocks) {
      if (block.type === 'tool_use' && role === 'assistant')
        calls.push({ id: block.id, at, value: block })
      if (block.type === 'tool_result')
        results.push({ id: block.tool_use_id, at, value: { block, from } })
    }
  return pairs(calls, results)
}

function append(
  made: Made[],
  role: Made['role'],
  blocks: ContentBlockParam[],
  from: MessageParam | null,
): void {
  const last = made.at(-1)
  if (last?.role !== role) made.push({ role, blocks, from: new Set([from]) })
  else {
    last.blocks.push(...blocks)
    last.from.add(from)
  }
}

/** The source itself, if nothing changed. */
function asItWas(
  { role, blocks, from }: Made,
  blocksOf: Map<MessageParam, ContentBlockParam[]>,
): ValidMessage {
  const [only] = from
  if (only == null || from.size > 1 || only.role !== role) return { role, content: blocks }
  const before = blocksOf.get(only) ?? []
  return before.length === blocks.length && before.every((block, n) => block === blocks[n])
    ? (only as ValidMessage)
    : { role, content: blocks }
}

// ── Blocks ──

function isCall(block: ContentBlockParam): block is ToolUseBlockParam {
  return block.type === 'tool_use'
}

/** Results are placed with their calls. */
function isUsers(block: ContentBlockParam): boolean {
  return !isBlank(block) && block.type !== 'tool_result' && block.type !== 'tool_use'
}

function isAssistants(block: ContentBlockParam): boolean {
  return !isBlank(block) && block.type !== 'tool_result'
}

function isBlank(block: ContentBlockParam): boolean {
  return block.type === 'text' && block.text.trim() === ''
}

function isSomething({ type }: ContentBlockParam): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking'
}

/** A call with the same id and content twice in one message was delivered twice. */
function distinct(blocks: ContentBlockParam[]): ContentBlockParam[] {
  const seen = new Set<string>()
  return blocks.filter((block) => {
    if (!isCall(block)) return true
    const key = JSON.stringify([block.id, block.name, block.input])
    return !seen.has(key) && seen.add(key)
  })
}

/**
 * Provider-run blocks come in pairs: server_tool_use and web_search_tool_result, mcp_tool_use and
 * mcp_tool_result.
 */
function withoutLonely(blocks: ContentBlockParam[]): ContentBlockParam[] {
  const calls = new Set(
    blocks.flatMap((block) => (isServerCall(block) && 'id' in block ? [block.id] : [])),
  )
  const results = new Set(
    blocks.flatMap((block) =>
      isServerResult(block) && 'tool_use_id' in block ? [block.tool_use_id] : [],
    ),
  )
  return blocks.filter((block) => {
    if (isServerCall(block) && 'id' in block) return results.has(block.id as string)
    return !isServerResult(block) || !('tool_use_id' in block) || calls.has(block.tool_use_id)
  })
}

function isServerCall({ type }: ContentBlockParam): boolean {
  return type !== 'tool_use' && type.endsWith('_tool_use')
}

function isServerResult({ type }: ContentBlockParam): boolean {
  return type !== 'tool_result' && type.endsWith('_tool_result')
}

function named(call: ToolUseBlockParam, id = call.id): ToolUseBlockParam {
  return id === call.id ? call : { ...call, id }
}

function answering(result: ToolResultBlockParam, id: string): ToolResultBlockParam {
  return result.tool_use_id === id ? result : { ...result, tool_use_id: id }
}
