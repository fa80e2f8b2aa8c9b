// The answers of Chat Completions: whole, and in chunks. With tool_calls only for tools that the client
// runs. The last chunk, or the whole answer, has the end of the turn as `weir`.

import type { TurnFinished } from '../../../../client/weir.ts'
import type { AnswerPiece } from '../answer-pieces.ts'
import { interrupted } from '../edge-errors.ts'
import type { ServerSentEvent } from '../sse.ts'
import { toolCallId } from './tool-call-id.ts'

/** `created`: seconds since 1970. `conversation`: as the principal names it. */
export type ChatHead = {
  id: string
  model: string
  created: number
  includesUsage: boolean
  conversation: string
}

/** The chunks, `[DONE]` at the end. An error of the source is a chunk with `error`. */
export async function* chatChunks(
  pieces: AsyncIterable<AnswerPiece>,
  { includesUsage, conversation, ...head }: ChatHead,
): AsyncGenerator<ServerSentEvent> {
  const chunk = (
    delta: object,
    finish: string | null = null,
    more: object = {},
  ): ServerSentEvent => ({
    data: JSON.stringify({
      ...{ ...head, object: 'chat.completion.chunk' },
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...more,
    }),
  })
  yield chunk({ role: 'assistant', content: '' })
  try {
    for await (const piece of pieces) {
      if (piece.kind === 'text') yield chunk({ content: piece.text })
      else if (piece.kind === 'reasoning') yield chunk({ reasoning_content: piece.text })
      else if (piece.kind === 'calls') {
        const calls = toolCalls(piece, conversation)
        yield chunk({ tool_calls: calls.map((call, index) => ({ index, ...call })) })
        yield chunk({}, 'tool_calls')
      } else {
        yield chunk({}, finishReason(piece.finished), { weir: piece.data })
        const usage = usageOf(piece.finished)
        const body = { ...head, object: 'chat.completion.chunk', choices: [], usage }
        if (includesUsage) yield { data: JSON.stringify(body) }
      }
    }
  } catch {
    const { code, message } = interrupted()
    const error = { type: 'server_error', code, message, param: null }
    yield { data: JSON.stringify({ error }) }
  }
  yield { data: '[DONE]' }
}

/** The whole answer. `reasoning`: the text of all rounds. */
export function chatCompletion(
  { finished, data }: Extract<AnswerPiece, { kind: 'end' }>,
  reasoning: string,
  { id, model, created }: ChatHead,
): object {
  const message = {
    ...{ role: 'assistant', content: finished.reply, refusal: null },
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(finished) }
  const usage = usageOf(finished)
  const body = { id, object: 'chat.completion', created, model, choices: [choice], usage }
  return { ...body, weir: data }
}

/** The answer that ends with calls of the client. The usage is known at the end of the turn. */
export function callsCompletion(
  piece: CallsPiece,
  { text, reasoning }: { text: string; reasoning: string },
  { id, model, created, conversation }: ChatHead,
): object {
  const message = {
    ...{ role: 'assistant', content: text === '' ? null : text, refusal: null },
    tool_calls: toolCalls(piece, conversation),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: 'tool_calls' }
  return { id, object: 'chat.completion', created, model, choices: [choice] }
}

export type CallsPiece = Extract<AnswerPiece, { kind: 'calls' }>

function toolCalls({ calls }: CallsPiece, conversation: string): object[] {
  return calls.map(({ callId, name, arguments: given }) => ({
    ...{ id: toolCallId({ conversation, callId }), type: 'function' },
    function: { name, arguments: given },
  }))
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
