// Finalizes a call: what its arguments are, where they came from, and why it can never run.
//
// The text goes on exactly as it was sent, also where a reader may stumble: a member named
// __proto__, a member that occurs twice, the escape of half a surrogate pair. All of that is JSON;
// it is data here, and whether it may run is the validator's question.
//
// ACCUMULATOR-CALL-1. Nothing is invented: no bracket is closed, no garbage cut off, no `{}` put in
//     for what did not come (I1.1). Mended is only what has one reading, and only where all of it
//     came (json-repair.ts); the text as it was sent stays beside it.
// ACCUMULATOR-CALL-2. When in doubt whether all bytes came, they did not (R6). A call runs only if
//     the response said that it was over, and nothing that was cut can be of this call: only the
//     last call of a response can be the one that its end cut.

import { limits } from '../../shared/contract/limits.ts'
import type { Call, CallProblem, Stop } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { repairedObject } from './json-repair.ts'
import { type ArgumentSources, argumentsFrom } from './source-precedence.ts'

/** A call as the stream told it. */
export type StreamedCall = ArgumentSources & {
  id: string
  name: string
  /** What the server wants to see again beside it, as JSON, and the model that it came from. */
  extra: { model: string; text: string } | undefined
  /**
   * open: the format marks the end of a call, and did not; closed: it did; none: it has no such
   * mark.
   */
  end: 'open' | 'closed' | 'none'
  /** Its arguments are text for a tool that takes no JSON. */
  isFreeText: boolean
}

/** How the response ended around a call. */
export type CallEnd = {
  /** Its place among the calls of the response. */
  ordinal: number
  stop: Stop
  /**
   * Whether no other call began after it: only that one can be the one that the end of the response
   * cut.
   */
  last: boolean
  /** The provider reported an error inside the stream: then nobody knows what of it was meant. */
  broken: boolean
  /**
   * Whether argument bytes came that belong to no call: they may be missing from any call that has
   * none of its own.
   */
  strayArguments: boolean
}

export function finalCall(streamed: StreamedCall, end: CallEnd): Call {
  const { id, name } = streamed
  const { raw, source, disputed } = argumentsFrom(streamed)
  const kept = cutToBytes(raw, limits.argumentBytesMax)
  const call: Call = {
    ordinal: end.ordinal,
    id,
    name,
    raw: kept,
    source,
    problem: null,
    repair: null,
    disputed,
  }
  // What is over the bound is not kept, so the end was not seen by anybody after us.
  if (kept !== raw) return { ...call, problem: 'truncated' }

  const problem = problemOf(streamed, call, end)
  const mended =
    problem === 'invalid_json' && isWhole(end)
      ? repairedObject(raw, limits.argumentDepthMax)
      : undefined
  if (mended === undefined || Buffer.byteLength(mended.text) > limits.argumentBytesMax)
    return { ...call, problem }
  return { ...call, raw: mended.text, repair: { sent: raw, how: mended.how } }
}

function problemOf(
  { end, isFreeText }: StreamedCall,
  { raw, source, disputed }: Call,
  round: CallEnd,
): CallProblem | null {
  if (round.broken) return 'stream_error'
  // Where the response is over and says two things about a call that nothing closed, bytes of one
  // of them are missing.
  if (end === 'open' && disputed && isWhole(round)) return 'lost_arguments'
  if (end === 'open' || isCut(round)) return 'truncated'
  if (isFreeText) return 'free_text'
  if (source === 'none' && round.strayArguments) return 'lost_arguments'
  if (source === 'none')
    return round.stop === 'end' || round.stop === 'calls' ? 'no_arguments' : 'truncated'
  // A start input is superseded by deltas, and those of somebody did not arrive. `{}` may stand for
  // those to come, wherever it stands.
  const isSuperseded = source === 'start' || source === 'message_start' || raw.trim() === '{}'
  if (isSuperseded && round.strayArguments) return 'lost_arguments'

  const fault = jsonFault(raw, limits.argumentDepthMax)
  if (fault === undefined) return raw.trimStart().startsWith('{') ? null : 'not_an_object'
  // Where nothing marks the end of a call and the model did not say that it had no more to say, a
  // text that could go on was cut.
  const wasEnded = end === 'closed' || round.stop === 'end' || round.stop === 'calls'
  return fault.kind === 'unfinished' && !wasEnded ? 'truncated' : 'invalid_json'
}

/** The response ended as it was meant to. */
function isWhole({ stop }: CallEnd): boolean {
  return stop === 'end' || stop === 'calls' || stop === 'other'
}

/** Whether bytes of this call may be missing at its end. */
function isCut({ stop, last }: CallEnd): boolean {
  switch (stop) {
    case 'end':
    case 'calls':
    case 'other': // it is over, if only by an end mark
      return false
    case 'length':
    case 'refusal':
      return last
    case 'cut':
      return true
    default:
      return unreachable(stop)
  }
}
