// When a response's visible text is asked for calls (I2), and what becomes of the response then.
// Owns: that. Does not own: what a call in text is (dialects/recover.ts), how often the model is
// told of one that cannot run (loop-detector).
//
// TEXT-CALLS-1. A call comes only of a response that ended by itself and has no call of its own.
//     One that was cut, or of which nobody says that it is whole, is told so where its text is
//     built like calls: as a reply it would be noise, and the model would wait for a result. A
//     refusal is text, and so is what stands beside native calls.
// TEXT-CALLS-2. Only visible text: reasoning, also where it stands in tags before the text, and
//     what a tool or a user wrote, is never looked at.
// TEXT-CALLS-3. Recovered calls take the place of the text that they were; a text that cannot run
//     stays where it is, with the reason.

import type {
  Call,
  ModelFinished,
  Response,
  RoundProposed,
  Stop,
} from '../../shared/contract/messages.ts'
import { withoutThinking } from './dialects/inline-thinking.ts'
import { type RecoveredCall, type Recovery, recover } from './dialects/recover.ts'

type Folded = Pick<RoundProposed, 'response' | 'failure'>

/**
 * `offered`: the names of all tools that the request offered; the declarations of those that the
 * text names came with the response.
 */
export function withTextCalls(
  folded: Folded,
  finished: ModelFinished,
  offered: readonly string[],
): Folded {
  const { response, failure } = folded
  if (
    failure !== null ||
    response.calls.length > 0 ||
    response.stop === 'refusal' ||
    response.stop === 'cut'
  )
    return folded
  const declared = new Map(finished.declarations.map(({ name, schema }) => [name, schema]))
  const recovery = recover({
    text: withoutThinking(response.text),
    offered: offered.map((name) => ({ name, schema: declared.get(name) ?? '' })),
    cut: notWhole[response.stop],
    isTold: finished.callsAsText,
  })
  return recovery === undefined
    ? folded
    : { response: recovered(response, recovery, finished), failure }
}

/** Why a text may not be whole; undefined: it is. */
const notWhole: Record<Exclude<Stop, 'refusal' | 'cut'>, string | undefined> = {
  end: undefined,
  calls: undefined,
  length: 'it was cut by the output limit; make it shorter, or do it in several smaller calls',
  other: 'nothing says that all of it arrived',
}

function recovered(response: Response, recovery: Recovery, finished: ModelFinished): Response {
  const { dialect } = recovery
  if (recovery.kind === 'lookalike')
    return { ...response, textCalls: { dialect, repairs: [], fault: recovery.why } }
  const calls = recovery.calls.map((call, ordinal) => callOf(call, ordinal, finished))
  return {
    ...response,
    text: '',
    calls,
    textCalls: { dialect, repairs: recovery.repairs, fault: null },
  }
}

/** Longer ids are no ids that anybody gave. */
const idCharactersMax = 256

function callOf(
  { id, name, raw }: RecoveredCall,
  ordinal: number,
  { turn, round }: ModelFinished,
): Call {
  const own = id === '' || id.length > idCharactersMax ? `call_${turn}_${round}_${ordinal}` : id
  return {
    ordinal,
    id: own,
    name,
    raw,
    source: 'text',
    problem: null,
    repair: null,
    disputed: false,
  }
}
