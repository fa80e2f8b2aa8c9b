// The answers of Chat Completions: whole, and in chunks. Never with tool_calls: Weir runs the tools.

import type { TurnFinished } from '../../../../client/weir.ts'
import type { AnswerPiece } from '../answer-pieces.ts'
import type { ServerSentEvent } from '../sse.ts'

/** `created`: seconds since 1970. */
export type ChatHead = { id: string; model: string; created: number; includesUsage: boolean }

/** The chunks, `[DONE]` at the end. An error of the source is a chunk with `error`. */
export async function* chatChunks(
  pieces: AsyncIterable<AnswerPiece>,
  { includesUsage, ...head }: ChatHead,
): AsyncGenerator<ServerSentEvent> {
  const chunk = (delta: object, finish: string | null = null): ServerSentEvent => ({
    data: JSON.stringify({
      ...{ ...head, object: 'chat.completion.chunk' },
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    }),
  })
  yield chunk({ role: 'assistant', content: '' })
  try {
    for await (const piece of pieces) {
      if (piece.kind === 'text') yield chunk({ content: piece.text })
      else if (piece.kind === 'reasoning') yield chunk({ reasoning_content: piece.text })
      else {
        yield chunk({}, finishReason(piece.finished))
        const usage = usageOf(piece.finished)
        const body = { ...head, object: 'chat.completion.chunk', choices: [], usage }
        if (includesUsage) yield { data: JSON.stringify(body) }
      }
    }
  } catch {
    const message = 'Weir cannot go on with this answer: send the same request again'
    const error = { type: 'server_error', code: 'edge.interrupted', message, param: null }
    yield { data: JSON.stringify({ error }) }
  }
  yield { data: '[DONE]' }
}

/** The whole answer. `reasoning`: the text of all rounds. */
export function chatCompletion(
  finished: TurnFinished,
  reasoning: string,
  { id, model, created }: ChatHead,
): object {
  const message = {
    ...{ role: 'assistant', content: finished.reply, refusal: null },
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(finished) }
  const usage = usageOf(finished)
  return { id, object: 'chat.completion', created, model, choices: [choice], usage }
}

function finishReason({ outcome }: TurnFinished): 'stop' | 'length' {
  return outcome === 'capped' ? 'length' : 'stop'
}

function usageOf({ totals: { inputTokens, outputTokens } }: TurnFinished): object {
  return {
    ...{ prompt_tokens: inputTokens, completion_tokens: outputTokens },
    total_tokens: inputTokens + outputTokens,
  }
}
