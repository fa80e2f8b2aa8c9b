// Decides when a response's visible text is searched for calls (I2), and changes the response if it
// has some.
// Does not own: recognizing a call in text (dialects/recover.ts), how often the model learns of a
// call that cannot run (loop-detector).
//
// TEXT-CALLS-1. A recovered call needs a response that ended properly and has no native call. A
//     refusal is text.
// TEXT-CALLS-2. A text that may be cut and is built like calls gets a fault. As a reply it would be
//     noise, and the model would wait for a result.
// TEXT-CALLS-3. Only visible text counts. Reasoning, even in tags before the text, and texts of
//     tools or users are never searched.
// TEXT-CALLS-4. Recovered calls replace their text, and words that their frame addresses to the user
//     stay. A text that cannot run stays, with the reason.

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
 * `offered`: the names of all offered tools. The response brought the declarations of those that
 * the text names.
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
    callsAsText: finished.callsAsText,
  })
  return recovery === undefined
    ? folded
    : { response: recovered(response, recovery, finished), failure }
}

/** Why a text may be incomplete. Undefined: it is complete. */
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
    text: recovery.preamble,
    calls,
    textCalls: { dialect, repairs: recovery.repairs, fault: null },
  }
}

/** No server gives longer ids. */
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
