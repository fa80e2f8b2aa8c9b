// A run's transcript, as the last requests show it: a line for each message, without ids and times,
// so two runs of a script are equal.

import type { SeenRequest } from './model-server.ts'
import { scrubber } from './scrub.ts'

/** The messages of the longest request of each conversation. */
export function transcriptOf({
  requests,
  home,
}: {
  requests: SeenRequest[]
  home: string
}): string[] {
  const scrub = scrubber(home)
  const longest = new Map<string, unknown[]>()
  for (const request of requests) {
    const messages = messagesOf(request)
    const key = conversationOf(request)
    if ((longest.get(key)?.length ?? 0) <= messages.length) longest.set(key, messages)
  }
  const said = [...longest.values()].flat().filter((message) => !isReminder(message))
  return said.map((message) =>
    JSON.stringify(withoutIds(scrub(inOrder(message))))
      // Agents that start at once have their ids in any order.
      .replace(/00000000-0000-4000-8000-\d{12}/g, '(id)')
      // A report of an agent has its duration in a long text.
      .replace(/( characters), [0-9a-f]{6}\)/g, '$1)')
      .replace(/(session ID |session_id\W{1,4})\d+/g, '$1(id)')
      .replace(/(Process Group PGID: )\d+/g, '$1(id)')
      .replace(/<current_datetime>[^<]*/g, '<current_datetime>')
      .replace(/(nickname\W+)\w+/g, '$1(name)'),
  )
}

/** A message of the host alone, such as the end of a task or the time, which comes at any time. */
function isReminder(message: unknown): boolean {
  const { content } = (message ?? {}) as { content?: unknown }
  const [block] = Array.isArray(content) && content.length === 1 ? (content as Block[]) : []
  const text = typeof content === 'string' ? content : (block?.text ?? '')
  return (
    /^<system-reminder>[\s\S]*<\/system-reminder>$/.test(text) ||
    text.startsWith('<system_info>The time is now ') // gptme, after a minute
  )
}

export function messagesOf({ body }: SeenRequest): unknown[] {
  const list = body.messages ?? body.input ?? body.contents
  return Array.isArray(list) ? list : [list]
}

/** Names the session of a host, or its sub-agent. */
export function conversationOf({ headers }: SeenRequest): string {
  const { 'x-claude-code-session-id': session, 'x-claude-code-agent-id': agent } = headers
  return [session, agent, headers['thread-id']].join(' ')
}

type Block = { type?: string; tool_use_id?: string; text?: string }

/**
 * Calls that run at once end in any order. A host may show their results in that order, and after a
 * compaction the files that they read.
 */
function inOrder(message: unknown): unknown {
  const { content } = (message ?? {}) as { content?: unknown }
  if (!Array.isArray(content)) return message
  const blocks = content.map((block: Block) =>
    isReread(block) ? { ...block, text: block.text?.trimEnd() } : block,
  )
  const sorted = orderedBy(blocks, (block) => block.tool_use_id)
  return {
    ...(message as object),
    content: orderedBy(sorted, (block) => (isReread(block) ? block.text : undefined)),
  }
}

/** The last of these texts has no line break at its end. */
function isReread({ text = '' }: Block): boolean {
  return /^<system-reminder>\n(?:Called|Result of calling) the Read tool/.test(text)
}

/** Sorts the blocks that have a key. The others keep their places. */
function orderedBy(blocks: Block[], keyOf: (block: Block) => string | undefined): Block[] {
  const hasKey = (block: Block) => keyOf(block) !== undefined
  const sorted = blocks
    .filter(hasKey)
    .toSorted((a, b) => `${keyOf(a)}`.localeCompare(`${keyOf(b)}`))
  return blocks.map((block) => (hasKey(block) ? (sorted.shift() ?? block) : block))
}

const idKeys = /^(id|call_id|tool_use_id|tool_call_id|toolUseId)$/

function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !idKeys.test(key))
      .map(([key, each]) => [key, withoutIds(each)]),
  )
}
