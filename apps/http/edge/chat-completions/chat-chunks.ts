// The answers of Chat Completions: whole, and in chunks. They have calls only of tools that the client
// runs. The last chunk, or the whole answer, has the end of the turn as `weir`. A turn that a budget or
// a stop ended has an error in place of that chunk.

import type { TurnFinished } from '../../../../client/weir.ts'
import type { Stop } from '../../../../shared/contract/messages.ts'
import { noUsage } from '../../../../shared/contract/turn/no-usage.ts'
import type { AnswerCall } from '../../../../shared/wire/exchange.ts'
import {
  chunkWriter,
  errorChunk,
  lastChunk,
  reasoningItem,
  writeCompletion,
  writeUsage,
} from '../../../../shared/wire/openai-chat/answer.ts'
import type { AnswerPiece } from '../chat/answer-pieces.ts'
import { endError, interrupted } from '../edge-errors.ts'
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
  const write = chunkWriter(head)
  let answer = ''

  function chunksOf(piece: AnswerPiece): object[] {
    switch (piece.kind) {
      case 'text':
        answer += piece.text
        return [write.text(piece.text)]
      case 'reasoning':
        return [write.reasoning(piece.text)]
      case 'calls':
        return [...write.calls(callsOf(piece, conversation)), write.end(endOf(piece))]
      case 'end': {
        keep(answer)
        const error = endError(piece.data)
        if (error !== undefined)
          return [{ ...errorChunk(error.code, error.message, error.code), weir: piece.data }]
        return [
          { ...write.end(endOf(piece)), weir: piece.data },
          ...(includesUsage ? [write.usage(writeUsage(usageOf(piece.finished)))] : []),
        ]
      }
    }
  }

  return {
    begin: [sent(write.begin())],
    eventsOf: (pieces) => pieces.flatMap(chunksOf).map(sent),
    failed() {
      const { code, message } = interrupted()
      return [sent(errorChunk(code, message))]
    },
    end: [{ data: lastChunk }],
  }
}

export type LastPiece = Extract<AnswerPiece, { kind: 'calls' | 'end' }>

/**
 * The whole answer. `text`, `reasoning`: of all rounds. An answer that ends with calls of the client has
 * no usage: that is known at the end of the turn.
 */
export function chatCompletion(
  last: LastPiece,
  { text, reasoning }: { text: string; reasoning: string },
  { id, model, created, conversation }: ChatHead,
): object {
  const isEnd = last.kind === 'end'
  const items = [
    { kind: 'text' as const, text: isEnd ? last.finished.reply : text },
    ...(isEnd ? [] : callsOf(last, conversation)),
    ...(reasoning === '' ? [] : [reasoningItem(reasoning)]),
  ]
  const usage = isEnd ? usageOf(last.finished) : noUsage
  const { usage: counted, ...body } = writeCompletion(
    { id, model, items, usage, ...endOf(last) },
    created,
  )
  return isEnd ? { ...body, usage: counted, weir: last.data } : body
}

function callsOf(
  { calls }: Extract<AnswerPiece, { kind: 'calls' }>,
  conversation: string,
): AnswerCall[] {
  return calls.map(({ callId, name, rawArguments: given }) => ({
    kind: 'call',
    id: toolCallId({ conversation, callId }),
    name,
    arguments: given,
  }))
}

function endOf(last: LastPiece): { stop: Stop; finish: string } {
  const isCapped = last.kind === 'end' && last.finished.outcome === 'capped'
  if (last.kind === 'calls') return { stop: 'calls', finish: '' }
  return { stop: isCapped ? 'length' : 'end', finish: '' }
}

function usageOf({ totals: { inputTokens, outputTokens } }: TurnFinished) {
  return { ...noUsage, inputTokens, outputTokens }
}
