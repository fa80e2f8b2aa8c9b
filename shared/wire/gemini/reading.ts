// Reads an answer of Gemini: a stream of events, a whole response, or the list of responses that
// `streamGenerateContent` sends without `alt=sse`.

import { answeredEvents, type SentEvent } from '../event-stream.ts'
import { exactValues } from '../exact-json.ts'
import type { Failed, Finished } from '../exchange.ts'
import { interruptionOf } from '../faults/provider-errors.ts'
import type { AnswerReader, ReaderOptions } from '../format.ts'
import { stopAtLimit } from '../output-limit.ts'
import { endGemini, type GeminiStream, newGeminiStream, readChunk, stopOf } from './events.ts'

export function geminiReader({ secret, model = '', outputTokensMax }: ReaderOptions): AnswerReader {
  const stream = newGeminiStream({ secret, model })
  return {
    sent: (response, onBytes) => answeredEvents(response, onBytes, chunksOf),
    read: (event, data) => readChunk(stream, event, data),
    isDone: () => stream.fault !== undefined,
    end: () => endGemini(stream),
    ending: (interruption) => endingOf(stream, interruption, outputTokensMax),
  }
}

function chunksOf(whole: unknown, body: string): SentEvent[] {
  if (!Array.isArray(whole)) return [{ event: null, data: body }]
  const exact = exactValues(body)
  return whole.map((_, at) => ({ event: null, data: exact([at]) ?? '' }))
}

/** A finished answer stays finished if the connection then breaks. */
function endingOf(
  stream: GeminiStream,
  interruption: unknown,
  outputTokensMax: number | undefined,
): Finished | Failed {
  const { fault, finish, usage } = stream
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '') return interruptionOf(interruption)
  return {
    kind: 'finished',
    stop: stopAtLimit(stopOf(stream), usage, outputTokensMax),
    finish,
    usage,
  }
}
