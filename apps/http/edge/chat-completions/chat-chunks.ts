// The answers of Chat Completions: whole, and in chunks. With tool_calls only for tools that the client
// runs. The last chunk, or the whole answer, has the end of the turn as `weir`.

import type { TurnFinished } from '../../../../client/weir.ts'
import type { AnswerPiece } from '../chat/answer-pieces.ts'
import { interrupted } from '../edge-errors.ts'
import type { ServerSentEvent, SseOptions } from '../sse.ts'
import { toolCallId } from './tool-call-id.ts'

/** `created`: seconds since 1970. `conversation`: as the principal names it. */
export type ChatHead = {
  id: string
  model: string
  created: number
  includesUsage: boolean
  conversation: string
}

/**
 * The chunks, `[DONE]` at the end. An error of the source is a chunk with `error`. `keep` gets the
 * whole text in front of the end.
 */
export function chatStream(
  { includesUsage, conversation, ...head }: ChatHead,
  keep: (answer: string) => void,
): Pick<SseOptions<AnswerPiece[]>, 'eventsOf' | 'begin' | 'failed' | 'end'> {
  const sent = (body: object): ServerSentEvent => ({ data: JSON.stringify(body) })
  const object = 'chat.completion.chunk'
  const chunk = (delta: object, finish: string | null = null, more: object = {}): ServerSentEvent =>
    sent({
      ...head,
      object,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...more,
    })
  let answer = ''

  function chunksOf(piece: AnswerPiece): ServerSentEvent[] {
    switch (piece.kind) {
      case 'text':
        answer += piece.text
        return [chunk({ content: piece.text })]
      case 'reasoning':
        return [chunk({ reasoning_content: piece.text })]
      case 'calls': {
        const calls = toolCalls(piece, conversation)
        return [
          chunk({ tool_calls: calls.map((call, index) => ({ index, ...call })) }),
          chunk({}, 'tool_calls'),
        ]
      }
      case 'end': {
        keep(answer)
        const usage = usageOf(piece.finished)
        return [
          chunk({}, finishReason(piece.finished), { weir: piece.data }),
          ...(includesUsage ? [sent({ ...head, object, choices: [], usage })] : []),
        ]
      }
    }
  }

  return {
    begin: [chunk({ role: 'assistant', content: '' })],
    eventsOf: (pieces) => pieces.flatMap(chunksOf),
    failed() {
      const { code, message } = interrupted()
      return [sent({ error: { type: 'server_error', code, message, param: null } })]
    },
    end: [{ data: '[DONE]' }],
  }
}

/** The whole answer. `reasoning`: the text of all rounds. */
export function chatCompletion(
  { finished, data }: Extract<AnswerPiece, { kind: 'end' }>,
  reasoning: string,
  { id, model, created }: ChatHead,
): object {
  const message = {
    role: 'assistant',
    content: finished.reply,
    refusal: null,
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
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: null,
    tool_calls: toolCalls(piece, conversation),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: 'tool_calls' }
  return { id, object: 'chat.completion', created, model, choices: [choice] }
}

export type CallsPiece = Extract<AnswerPiece, { kind: 'calls' }>

function toolCalls({ calls }: CallsPiece, conversation: string): object[] {
  return calls.map(({ callId, name, arguments: given }) => ({
    id: toolCallId({ conversation, callId }),
    type: 'function',
    function: { name, arguments: given },
  }))
}

function finishReason({ outcome }: TurnFinished): 'stop' | 'length' {
  return outcome === 'capped' ? 'length' : 'stop'
}

function usageOf({ totals: { inputTokens, outputTokens } }: TurnFinished): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
}
