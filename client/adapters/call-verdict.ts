// The verdict on one call of an answer, for adapters whose host requests each call separately.
// Owns: the denial of a call that Weir cannot judge.
// Does not own: the decision (services/guest and after it), the host's form of a denial.
// A call runs only if Weir's verdict on it is `allow`. An error is a denial, because an
// error in a host's callback would reject the whole run.
// A verdict is one on an id, a name and arguments. A page, a repair or a middleware can change a
// call after its judgement.

import { judgingFailed, noVerdict, otherCall } from '../../shared/model-texts/guests.ts'
import { canonicalArguments } from '../../shared/transcript/round-key.ts'
import { readAnswer } from '../guard/formats.ts'
import type {
  Advice,
  CallVerdict,
  GuestAnswer,
  GuestConversation,
} from '../guard/guest-conversation.ts'

/** An answer to judge, and the signal of its request. */
export type ToJudge = { answer: GuestAnswer; signal: AbortSignal | undefined }

/** How long a call waits for its siblings' verdicts once it has its own. */
const firstMs = 2_000

/** The verdicts on an answer. Calls that need longer have the verdict `pending`. */
export function firstVerdicts(
  conversation: GuestConversation,
  { answer, signal }: ToJudge,
): Promise<CallVerdict[]> {
  return conversation.afterModel(answer, {
    waitMs: firstMs,
    signal,
  })
}

/**
 * A call as its host runs it. `input`: the value of its arguments, or their text; undefined: no host can
 * read them. `parsed`: the value that the host makes of the model's arguments. Default: the same.
 */
export type HostCall = {
  callId: string
  name: string
  input: unknown
  parsed?: (input: unknown) => unknown
}

/**
 * The text for the model. Undefined: the call runs. `rounds`: the answers that may have the call; the
 * first one that has it counts. Never rejects.
 */
export async function denialOf(
  conversation: GuestConversation,
  call: HostCall,
  ...rounds: ToJudge[]
): Promise<string | undefined> {
  try {
    const { round, places } = await roundOf(call, rounds)
    if (round === undefined) return otherCall
    let own = strictestOf(places, await firstVerdicts(conversation, round))
    if (own?.verdict === 'pending') {
      const { answer, signal } = round
      const verdicts = conversation.afterModel(answer, signal && { signal })
      own = strictestOf(places, await verdicts)
    }
    if (own?.verdict === 'allow') return undefined
    return own?.text || noVerdict
  } catch (error) {
    return judgingFailed(error instanceof Error ? error.message : String(error))
  }
}

async function roundOf(call: HostCall, rounds: readonly ToJudge[]) {
  for (const round of rounds) {
    const places = await placesOf(call, round.answer)
    if (places.length > 0) return { round, places }
  }
  return { round: undefined, places: [] }
}

async function placesOf(
  { callId, name, input, parsed }: HostCall,
  answer: GuestAnswer,
): Promise<number[]> {
  const text = textOf(input)
  const calls = readAnswer(answer).filter((piece) => piece.kind === 'call')
  const fits = calls.map(async (call) => {
    if (call.id !== callId || call.name !== name) return false
    if (input === undefined || textOf(call.arguments) === text) return true
    return parsed !== undefined && (await parsedText(parsed, call.arguments)) === text
  })
  return (await Promise.all(fits)).flatMap((isFitting, place) => (isFitting ? [place] : []))
}

/** Undefined: the text is no JSON, or the host makes no value of the arguments. */
async function parsedText(
  parsed: NonNullable<HostCall['parsed']>,
  text: string,
): Promise<string | undefined> {
  try {
    return textOf(await parsed(JSON.parse(text.trim() || '{}')))
  } catch {
    return undefined
  }
}

function textOf(input: unknown): string {
  return canonicalArguments(typeof input === 'string' ? input : (JSON.stringify(input) ?? ''))
}

/** The strictest verdict on the calls at these places: the host cannot tell them apart. */
function strictestOf(
  places: readonly number[],
  verdicts: readonly CallVerdict[],
): CallVerdict | undefined {
  const own = places.map((place) => verdicts[place])
  return (
    own.find((one) => one?.verdict === 'deny') ??
    own.find((one) => one?.verdict === 'pending') ??
    own[0]
  )
}

/** The denials among the verdicts that an answer has at once, by call id. */
export function denialsOf(verdicts: CallVerdict[]): Map<string, string> {
  return new Map(
    verdicts.flatMap(({ callId, verdict, text }) => (verdict === 'deny' ? [[callId, text]] : [])),
  )
}

/** The answer to a request that Weir keeps from the model, at action `end`. Its user reads it. */
export function endText({ userText, fallback }: Advice): string {
  return [userText, fallback].filter((text) => text !== '').join('\n\n')
}
