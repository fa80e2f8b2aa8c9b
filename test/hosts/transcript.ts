// The transcript of a run, as its last requests show it: one line for each message, without ids and
// times, so that two runs of one script are equal.

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
  return [...longest.values()].flat().map((message) =>
    JSON.stringify(withoutIds(scrub(message)))
      // Agents that start at once have their ids in any order.
      .replace(/00000000-0000-4000-8000-\d{12}/g, '(id)')
      // A report of an agent has its duration in a long text.
      .replace(/( characters), [0-9a-f]{6}\)/g, '$1)')
      .replace(/(nickname\W+)\w+/g, '$1(name)'),
  )
}

export function messagesOf({ body }: SeenRequest): unknown[] {
  const list = body.messages ?? body.input
  return Array.isArray(list) ? list : [list]
}

/** Names the session of a host, or its sub-agent. */
export function conversationOf({ headers }: SeenRequest): string {
  const { 'x-claude-code-session-id': session, 'x-claude-code-agent-id': agent } = headers
  return [session, agent, headers['thread-id']].join(' ')
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
