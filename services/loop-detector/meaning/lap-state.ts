// Values that are new each time by their nature: an OAuth state or code, a nonce, a port that a
// server chose, a random host, a signature. Two laps that differ only in them are one lap.
//
// LAP-STATE-1. In a result each such value counts, in arguments only one of two kinds: its name
//     says that it is random, or a result of the same lap returned it.
// LAP-STATE-2. So a port or a code that the model chose is a question: the next one may differ.
// LAP-STATE-3. Linear in the beginning of the text. Most texts fail the first test.

import { withoutRandom } from '../evidence/random-suffix.ts'

const mark = '<state>'
/** The part of a text that is read. */
const charsMax = 4_096
const valuesMax = 16

/** A name with a value that is long enough, a random host or a port. */
const hint =
  /(?:[sS]tate|[cC]ode|[nN]once|[tT]oken|[cC]srf|[cC]hallenge|[vV]erifier|[sS]ig|[sS]ignature|otp|OTP|_id)(?:["']{0,2}\s?[:=]\s?["']{0,2}|"? value=")[\w.~%+/=:-]{6}|[?&][\w-]{1,24}=[\w.~%+/=:-]{6}|:\/\/[a-z\d-]{6,80}\.[a-z\d-]{2,80}\.|port[ :=]{1,2}\d{4}|:\d{4,5}\b/

/** Names of values that nobody chooses. */
const randomNames =
  'state|nonce|code_?(?:challenge|verifier)|(?:csrf|xsrf|authenticity)(?:_?(?:middleware)?_?token)?|(?:login|consent|logout)_(?:challenge|verifier)|' +
  'relaystate|samlrequest|oauth_(?:nonce|signature|timestamp|token|verifier)|sig|signature|hmac|x-(?:amz|goog)-[a-z-]+'
/** Names of values that a result gives out. */
const givenNames =
  'code|otp|challenge|token|(?:user|device|auth|authorization|verification|login|access|request|session|id|refresh)_?(?:code|token|id)|' +
  'se|st|expires?|exp|key-pair-id'

const membersNamed = (names: string) =>
  new RegExp(
    String.raw`((?:[?&#;\s"']|^)(?:${names})(?:"?'?\s?[:=]\s?"?'?|"? value="?))([\w.~%+/=:-]{6,512})`,
    'gi',
  )
const random = membersNamed(randomNames)
const named = membersNamed(`${randomNames}|${givenNames}`)
const port = /((?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):|\bport[ :=]{1,2})(\d{4,5})\b/gi
const host = /(https?:\/\/)([a-z\d-]{6,80})(?=\.[a-z\d-]{2,}\.)/gi
/** Services that give each tunnel a name. */
const tunnel = /^\.(?:ngrok|trycloudflare|loca|serveo|localhost)/

export function mayHoldStates(text: string): boolean {
  return hint.test(text.slice(0, charsMax))
}

/** A result without its states, and the states, which later calls of the lap may send. */
export function withoutStates(text: string): { text: string; states: string[] } {
  const head = text.slice(0, charsMax)
  const states: string[] = []
  const noted = (_: string, before: string, value: string) => {
    if (states.length < valuesMax) states.push(value)
    return before + mark
  }
  const plain = head
    .replace(named, (whole, before, value) =>
      isState(value) ? noted(whole, before, value) : whole,
    )
    .replace(port, noted)
    .replace(host, (whole: string, before: string, label: string, at: number) =>
      isRandomHost(label, head.slice(at + whole.length, at + whole.length + 20))
        ? noted(whole, before, label)
        : whole,
    )
  return { text: plain + text.slice(charsMax), states }
}

/** The text of arguments without random values, and the newest lap-wide states in them. */
export function withoutSentStates(
  text: string,
  given: ReadonlyMap<string, number>,
): { text: string; oldest: number } {
  let plain = text.slice(0, charsMax)
  let oldest = Number.POSITIVE_INFINITY
  for (const [state, round] of given) {
    if (!plain.includes(state)) continue
    plain = plain.replaceAll(state, mark)
    oldest = Math.min(oldest, round)
  }
  plain = plain.replace(random, (whole, before, value) => (isState(value) ? before + mark : whole))
  return { text: plain + text.slice(charsMax), oldest }
}

/** Not a plain word or a small number: somebody chose the state `open`. */
function isState(value: string): boolean {
  return /\d/.test(value) || value.length >= 16
}

function isRandomHost(label: string, rest: string): boolean {
  return tunnel.test(rest) || withoutRandom(`.${label}`) !== `.${label}`
}
