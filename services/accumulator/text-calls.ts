// Decides when a response's visible text is searched for calls (I2), and changes the response if it
// has some.
// Does not own: recognizing a call in text (dialects/), the setting and the echo check
// (llm-gateway), how often the model learns of a call that did not run (loop-detector).
//
// A recovered call needs a response that ended properly and has no native call. A
// refusal is text.
// A text that may be cut and is built like calls gets a fault. As a reply it would be
// noise, and the model would wait for a result.
// Only visible text counts. Reasoning, even in tags before the text, and texts of
// tools or users are never searched.
// Recovered calls replace their text, and words that their frame addresses to the user
// stay. A text that cannot run stays, with the reason.
// A readable call runs only if the agent runs text and no earlier message or result
// holds it. Otherwise the text is held: it stays, with the reason.

import type {
  Call,
  ModelFinished,
  Response,
  RoundProposed,
  Stop,
  TextCalls,
} from '../../shared/contract/messages.ts'
import { callsAfterText } from './dialects/after-text.ts'
import { answerIn, type RecoveredCall, type Recovery, recover } from './dialects/recover.ts'
import { unrunnable } from './dialects/unrunnable.ts'

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
    response.stop === 'cut' ||
    finished.textCalls === 'off'
  )
    return folded
  const declared = new Map(finished.declarations.map(({ name, schema }) => [name, schema]))
  const tools = offered.map((name) => ({ name, schema: declared.get(name) ?? '' }))
  const cut = notWhole[response.stop]
  const recovery = recover({
    text: answerIn(response.text),
    offered: tools,
    cut,
    callsAsText: finished.callsAsText,
  })
  if (recovery !== undefined) return { response: judged(response, recovery, finished), failure }
  // Older versions searched for nothing more, and their logs must replay as recorded.
  if (finished.textCalls === null) return folded
  const after =
    finished.textCalls === 'run' && cut === undefined
      ? callsAfterText(response.text, tools)
      : undefined
  if (after !== undefined) return { response: judged(response, after.recovery, finished), failure }
  const found = unrunnable(response.text, tools, cut !== undefined)
  if (found === undefined) return folded
  const { dialect, hold, token } = found
  const why = token === undefined ? whyOf(hold, finished) : whyOfToken(token, cut, finished)
  return { response: held(response, { dialect, hold, why }), failure }
}

/** Why a text may be incomplete. Undefined: it is complete. */
const notWhole: Record<Exclude<Stop, 'refusal' | 'cut'>, string | undefined> = {
  end: undefined,
  calls: undefined,
  length: 'it was cut by the output limit; make it shorter, or do it in several smaller calls',
  other: 'nothing says that all of it arrived',
}

function judged(response: Response, recovery: Recovery, finished: ModelFinished): Response {
  const { dialect } = recovery
  const { textCalls, echoOf } = finished
  const mayRun = textCalls !== 'tell'
  if (recovery.kind === 'lookalike') {
    if (mayRun)
      return { ...response, textCalls: { dialect, repairs: [], fault: recovery.why, held: null } }
    const why = `${recovery.why}; also, ${whyOf('tell', finished)}`
    return held(response, { dialect, hold: 'tell', why })
  }
  if (echoOf !== null) {
    const rule = mayRun ? 'a text from there is never run as a call' : whyOf('tell', finished)
    return held(response, { dialect, hold: 'echo', why: `${echoOf} already holds it, and ${rule}` })
  }
  if (!mayRun) return held(response, { dialect, hold: 'tell', why: whyOf('tell', finished) })
  const calls = recovery.calls.map((call, ordinal) => callOf(call, ordinal, finished))
  return {
    ...response,
    text: recovery.preamble,
    calls,
    textCalls: { dialect, repairs: recovery.repairs, fault: null, held: null },
  }
}

type Held = { dialect: string; hold: NonNullable<TextCalls['held']>; why: string }

function held(response: Response, { dialect, hold, why }: Held): Response {
  return { ...response, textCalls: { dialect, repairs: [], fault: why, held: hold } }
}

/** A clause for the model, with the way to call. */
function whyOf(
  hold: Exclude<Held['hold'], 'echo'>,
  { callsAsText }: Pick<ModelFinished, 'callsAsText'>,
): string {
  if (!callsAsText) {
    const rule = 'only native tool calls run here, through the tool interface of this request'
    if (hold === 'tell') return rule
    return hold === 'frame' ? `it follows other text, and ${rule}` : `it is plain JSON, and ${rule}`
  }
  if (hold === 'tell') return 'calls that are written as text do not run here'
  return hold === 'frame'
    ? 'other text stands before it, and a call must be the whole response'
    : 'it does not have the form {"name": ..., "arguments": {...}}'
}

/** The same for a token alone. `cut`: why the text may be incomplete. */
function whyOfToken(token: string, cut: string | undefined, finished: ModelFinished): string {
  const rule = finished.callsAsText ? undefined : whyOf('tell', finished)
  const unread = `${token} belongs to a call, and no whole call is there`
  return [unread, cut, rule].filter((part) => part !== undefined).join('; also, ')
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
