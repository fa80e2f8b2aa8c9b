// Finalizes a call: what its arguments are, where they came from, and why it can never run.
//
// The text goes on exactly as it was sent, also where a reader may stumble: a member named __proto__, a member that occurs twice, the escape of
// half a surrogate pair. All of that is JSON; it is data here, and whether it may run is the validator's question.
//
// F1. Nothing is repaired: no bracket is closed, no garbage cut off, no `{}` put in for what did not come (I1.1).
// F2. When in doubt whether all bytes came, they did not (R6).

import { jsonFault } from '../../shared/json-fault.ts'
import { limits } from '../../shared/limits.ts'
import type { Call, CallProblem, Stop } from '../../shared/messages.ts'
import { cutToBytes } from '../../shared/text-cut.ts'
import type { ArgumentSources } from './source-precedence.ts'
import { argumentsFrom } from './source-precedence.ts'

/** A call as the stream told it. */
export type StreamedCall = ArgumentSources & {
  ordinal: number
  id: string
  name: string
  /** The provider closed it. */
  ended: boolean
  /** The provider reported an error while it was open, or before it began. */
  broken: boolean
}

/** How the response ended around a call. */
export type CallEnd = {
  stop: Stop
  /** Whether no other call began after it: only that one can be the one that the end of the response cut. */
  last: boolean
  /** Whether argument bytes came that belong to no call: they may be missing from any call that has none of its own. */
  strayArguments: boolean
}

export function finalCall(streamed: StreamedCall, end: CallEnd): Call {
  const { ordinal, id, name } = streamed
  const { raw, source } = argumentsFrom(streamed)
  const kept = cutToBytes(raw, limits.argumentBytesMax)
  // What is over the bound is not kept, so the end was not seen by anybody after us.
  const problem = kept === raw ? problemOf({ ...streamed, raw, source }, end) : 'truncated'
  return { ordinal, id, name, raw: kept, source, problem }
}

function problemOf(call: StreamedCall & Pick<Call, 'raw' | 'source'>, { stop, last, strayArguments }: CallEnd): CallProblem | null {
  if (call.broken) return 'stream_error'
  if (strayArguments && call.source !== 'deltas') return 'truncated'

  // The end of a call was seen when the provider closed it, or said that the model had finished. A call without either is cut even if its text
  // parses: a start input is superseded by deltas that may not have come.
  const finished = stop === 'calls' || stop === 'end'
  if (!call.ended && !finished) return 'truncated'

  // Some servers close the call that the output limit cut, before its first byte or in the middle. A text that could go on was cut, unless a closed
  // call and the model's own end both say that this is all there is.
  const wasClosedByTheCut = call.ended && last && (stop === 'length' || stop === 'cut')
  if (call.source === 'none') return wasClosedByTheCut ? 'truncated' : 'no_arguments'
  const fault = jsonFault(call.raw, limits.argumentDepthMax)
  if (fault === undefined) return isObjectText(call.raw) ? null : 'not_an_object'
  return fault.kind === 'unfinished' && (wasClosedByTheCut || !call.ended) ? 'truncated' : 'invalid_json'
}

/** Of a text that is JSON. */
function isObjectText(raw: string): boolean {
  return raw.trimStart().startsWith('{')
}
