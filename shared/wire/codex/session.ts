// The sessions of Codex: a line for each item of OpenAI's Responses, in an envelope, and other lines. An
// agent inside a session has a file, whose first line names the session.

import { isObject } from '../../lib/json/json-object.ts'
import { textOr } from '../../transcript/json-fields.ts'
import { endedPiece, modelPiece } from '../../transcript/pieces.ts'
import type { Piece } from '../../transcript/transcript.ts'
import type { Json, SessionAgent, SessionProgram } from '../format.ts'
import { openaiItems } from '../openai-responses/format.ts'
import { countOf, usageWithCache } from '../token-count.ts'

export const codex = {
  name: 'codex',
  session: {
    messages: openaiItems,
    message: ({ type, payload }) =>
      type === 'response_item' && isObject(payload) ? payload : undefined,
    leftOut: ({ payload }) =>
      isObject(payload) && payload.role === 'user' && isOfHost(payload.content)
        ? 'a message that the runtime wrote'
        : undefined,
    facts,
    conversations,
    time: 'timestamp',
    place: ({ type, payload }) =>
      type === 'session_meta' && isObject(payload) ? textOr(payload.cwd) : undefined,
    stored: { home: '.codex', variable: 'CODEX_HOME', inside: 'sessions', file: /\.jsonl$/ },
  },
} satisfies SessionProgram<'codex'>

/** The state of the machine, and the end of a turn that the user stopped. */
function isOfHost(content: unknown): boolean {
  const [first] = Array.isArray(content) ? content : [content]
  const text = isObject(first) ? textOr(first.text) : textOr(first)
  return /^<(environment_context|turn_aborted)>/.test(text)
}

/** Older versions have the tokens of a response in an event only, newer ones in both. */
function facts({ type, payload }: Json): Piece[] {
  if (!isObject(payload)) return []
  const { model, usage, info } = payload
  if (type === 'turn_context' && typeof model === 'string') return [modelPiece(model, 'openai')]
  if (type === 'token_usage_record') return [endedPiece(usage, usageOf, '')]
  return payload.type === 'token_count' && isObject(info)
    ? [endedPiece(info.last_token_usage, usageOf, '')]
    : []
}

function usageOf({
  input_tokens: input,
  output_tokens: output,
  cached_input_tokens: read,
  cache_write_input_tokens: write,
}: Json) {
  return usageWithCache(countOf(input), countOf(output), countOf(read), countOf(write))
}

/** The lines of another session can stand after the first one, in a fork. */
function conversations(): (line: Json) => SessionAgent {
  let conversation: SessionAgent = {}
  return ({ type, payload }) => {
    if (type === 'session_meta' && isObject(payload) && conversation.session === undefined) {
      const id = textOr(payload.id)
      const session = textOr(payload.session_id) || parentOf(payload) || id
      conversation = session === id ? { session } : { session, agent: id }
    }
    return conversation
  }
}

/** Older versions have no id of the whole session. */
function parentOf({ source }: Json): string {
  const { subagent } = isObject(source) ? source : {}
  const { thread_spawn: spawn } = isObject(subagent) ? subagent : {}
  return isObject(spawn) ? textOr(spawn.parent_thread_id) : ''
}
