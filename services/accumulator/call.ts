// Finalizes a call: its arguments, their source, and the reason if it can never run.
//
// The text stays exactly as sent, even where readers may stumble: a member named __proto__, a
// repeated member, an escaped half of a surrogate pair. All of that is JSON. The validator decides
// whether it may run.
//
// Nothing is invented (I1.1): no closed bracket, no removed garbage, no `{}`
// for missing bytes. A repair needs a whole text with one reading, and keeps the sent text.
// In doubt, bytes are missing (R6). A call runs only if the response reported
// its end and no cut can touch the call. Only the last call of a response can be the cut one.
// No arguments mean one thing in every spelling: the text is empty, and the
// repair keeps the sent text. The validator decides whether the tool may run without.

import { isPlaceholder } from '../../shared/contract/arguments/no-arguments.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Call, CallProblem, Stop } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { sameJson } from '../../shared/lib/json/same-json.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { meantObject, type Repaired, repairedObject } from './json-repair.ts'
import { textFrom } from './piece-texts.ts'

/**
 * The argument texts of a call by their source (I5.1). Servers send the arguments whole at the start of
 * a call, in pieces, whole again at its end, or in all three ways. Some put an empty placeholder in one
 * place. All sources are kept apart, and one is used whole at the end. All texts are '' if none came.
 * `deltas`: the pieces in the order of the stream, none empty.
 * `dones`: the texts of events that ended the arguments.
 * `final`: the one of `dones` that the pieces begin, if they are no JSON by themselves.
 * `start`: the start input. `isInMessage`: the start of the response held the whole call.
 */
type ArgumentSources = {
  deltas: string[]
  dones: string[]
  final?: string
  start: string
  isInMessage: boolean
}

/** A call as the stream described it. */
export type StreamedCall = ArgumentSources & {
  id: string
  name: string
  /** JSON that the server wants back with the call, and the model that sent it. */
  extra: { model: string; text: string } | undefined
  /**
   * closed: the format marked the end of the call. open: that mark is missing. none: the format has
   * no such mark.
   */
  end: 'open' | 'closed' | 'none'
  /** The arguments are text, for a tool that takes no JSON. */
  isFreeText: boolean
}

/** How the response ended around a call. */
export type CallEnd = {
  /** Its place among the calls of the response. */
  ordinal: number
  stop: Stop
  /** No other call began after it. The end of a response can cut only the last call. */
  last: boolean
  /** The provider reported an error inside the stream, so the meaning of the rest is unknown. */
  broken: boolean
  /** Argument bytes came that belong to no call. Any call without arguments may have lost them. */
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
  // Bytes over the bound are not kept, so no later stage sees the end.
  if (kept !== raw) return { ...call, problem: 'truncated' }

  const problem = problemOf(streamed, call, end)
  const repaired = isWhole(end) ? repairOf(raw, problem) : undefined
  if (repaired === undefined || Buffer.byteLength(repaired.text) > limits.argumentBytesMax)
    return { ...call, problem }
  return {
    ...call,
    raw: repaired.text,
    problem: repaired.text === '' ? 'no_arguments' : null,
    repair: { sent: raw, how: repaired.how },
  }
}

/**
 * The deltas if they have a visible byte, otherwise the done event's text, otherwise the start
 * input, otherwise nothing.
 *
 * Never two of them. Two equal texts would join to `{..}{..}`. If the deltas only continue the
 * start input, neither is the intended text alone, and the deltas do not parse.
 *
 * `disputed`: an unused source differs from the used one.
 */
export function argumentsFrom({
  deltas,
  dones,
  final,
  start,
  isInMessage,
}: ArgumentSources): Pick<Call, 'raw' | 'source' | 'disputed'> {
  if (final !== undefined) return { raw: final, source: 'done', disputed: true }
  const given: Pick<Call, 'raw' | 'source'>[] = [
    { raw: textFrom(deltas), source: 'deltas' },
    ...dones.map((raw) => ({ raw, source: 'done' as const })),
    { raw: start, source: isInMessage ? 'message_start' : 'start' },
  ]
  const [used, ...others] = given.filter(({ raw }) => raw.trim() !== '')
  if (used === undefined) return { raw: '', source: 'none', disputed: false }
  return { ...used, disputed: others.some(({ raw }) => !sameJson(raw, used.raw)) }
}

/** Undefined: these arguments cannot be repaired, or need no repair. */
function repairOf(raw: string, problem: CallProblem | null): Repaired | undefined {
  if (problem === 'invalid_json') return repairedObject(raw, limits.argumentDepthMax)
  return problem === 'not_an_object' ? meantObject(raw, limits.argumentDepthMax) : undefined
}

function problemOf(
  { end, isFreeText }: StreamedCall,
  { raw, source, disputed }: Call,
  round: CallEnd,
): CallProblem | null {
  if (round.broken) return 'stream_error'
  // The response is over, the call is open, and its sources differ: one of them lacks bytes.
  if (end === 'open' && disputed && isWhole(round)) return 'lost_arguments'
  if (end === 'open' || isCut(round)) return 'truncated'
  if (isFreeText) return 'free_text'
  if (source === 'none' && round.strayArguments) return 'lost_arguments'
  if (source === 'none')
    return round.stop === 'end' || round.stop === 'calls' ? 'no_arguments' : 'truncated'
  // Deltas supersede a start input, and some call's deltas did not arrive. `{}` or `null` may be
  // their placeholder, in any place.
  const isSuperseded = source === 'start' || source === 'message_start' || isPlaceholder(raw)
  if (isSuperseded && round.strayArguments) return 'lost_arguments'

  const fault = jsonFault(raw, limits.argumentDepthMax)
  if (fault === undefined) return raw.trimStart().startsWith('{') ? null : 'not_an_object'
  // Without an end mark, and without a statement that the model finished, an unfinished text was
  // cut.
  const wasEnded = end === 'closed' || round.stop === 'end' || round.stop === 'calls'
  return fault.kind === 'unfinished' && !wasEnded ? 'truncated' : 'invalid_json'
}

/** Whether the response reached its proper end. */
function isWhole({ stop }: CallEnd): boolean {
  return stop === 'end' || stop === 'calls' || stop === 'other'
}

/** Whether bytes of this call may be missing at its end. */
function isCut({ stop, last }: CallEnd): boolean {
  switch (stop) {
    case 'end':
    case 'calls':
    case 'other': // over, even if only an end mark reports it
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
