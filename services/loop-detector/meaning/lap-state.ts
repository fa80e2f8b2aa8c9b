// Values that are new each time by their nature: an OAuth state or code, a nonce, a signature, a port
// that a server chose. So are random hosts, names of pods, and references on a page. Two laps that
// differ only in them are one lap.
//
// In a result each such value counts. In arguments the name must say that the value is random, or a
// result of the same lap returned the value, or the value is a redirect's port.
// So a port or a code that the model chose is a question: the next one may differ. A
// call that starts a server on it has the answer in its own result.
// A reference in arguments is its place in the newest result that has references. The
// words for people before or after the reference do not count.
// The restarts and ages of a thing that crashes grow with each lap by themselves. Of its
// log only the lines that name an error count, and not how many lines the call wanted.
// Linear in the beginning of the text. Most texts fail the first test.

import { namesError } from '../evidence/error-text.ts'
import { randomName, randomPart, withoutRandom } from '../evidence/random-suffix.ts'
import { mayHaveReferences, withReferences } from './page-reference.ts'

const mark = '<state>'
/** The part of a text that is read. */
const charsMax = 4_096
const valuesMax = 16

const separator = /[:=%]|port/i
/** A name with a value that is long enough, a random host or a port. */
const hint =
  /(?:[sS]tate|[cC]ode|[nN]once|[tT]oken|[cC]srf|[cC]hallenge|[vV]erifier|[sS]ig|[sS]ignature|otp|OTP|_id)(?:["']{0,2}\s?[:=]\s?["']{0,2}|"? value=")[\w.~%+/=:-]{6}|[?&][\w-]{1,24}=[\w.~%+/=:-]{6}|:\/\/[a-z\d-]{6,80}\.[a-z\d-]{2,80}\.|(?:port|PORT)["' :=]{1,3}\d{4}|:\d{4,5}\b|%3[ADad]/

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
/** In arguments: of the address to which a login comes back, and of a server that the call starts. */
const redirect =
  /((?:redirect|callback)\w{0,12}["']{0,2}\s?[:=]\s?["']{0,2}(?:https?:\/\/[a-z\d.[\]:]{1,40}:)?)\d{4,5}\b/gi
/** The number of the last lines of a log. */
const lastLines = /((?:\s--(?:tail|lines|since)|\btail(?: -n?)?)[ =]?)\d+[smh]?\b/g
const listening = /((?:\s--?(?:port|listen|bind)[ =]|\bPORT=)(?:[a-z\d.]{1,40}:)?)(\d{4,5})\b/g
const port = /((?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):|\bport[ :=]{1,2})(\d{4,5})\b/gi
const host = /(https?:\/\/)([a-z\d-]{6,80})(?=\.[a-z\d-]{2,}\.)/gi
/** Services that give each tunnel a name. */
const tunnel = /^\.(?:ngrok|trycloudflare|loca|serveo|localhost)/

export function mayHoldStates(text: string): boolean {
  const head = text.slice(0, charsMax)
  return (
    (separator.test(head) && hint.test(head)) ||
    (head.includes('-') && randomPart.test(head)) ||
    mayHaveReferences(head)
  )
}

/** Whether a result tells of a thing that starts again and again. */
export function mayCrash(text: string): boolean {
  return crash.test(text.slice(0, charsMax))
}

/** Whether a result states that a thing crashed, so that nobody need wait for it. */
export function hasCrashed(text: string): boolean {
  return crashed.test(text.slice(0, charsMax))
}

/** A log of a thing that crashes: the lines that name an error. Undefined: the text has none. */
export function crashIn(text: string): string | undefined {
  const lines = text
    .slice(0, charsMax)
    .split('\n')
    .filter((line) => namesError(line) || errorLevel.test(line))
  return lines.length > 0 ? [...new Set(lines)].join('\n') : undefined
}

/** A result without its states, and the states, which later calls of the lap may send. */
export function withoutStates(text: string): { text: string; states: string[] } {
  const whole = decoded(text.slice(0, charsMax))
  const head = crash.test(whole) ? withoutRestarts(whole) : whole
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
    .replace(randomName, (name) => (withoutRandom(name) === name ? name : noted(name, '', name)))
  return { text: plain + text.slice(charsMax), states }
}

/**
 * The text of arguments without random values, and the oldest round of the states in it. `own`: the
 * states in the result of this call.
 */
export function withoutSentStates(
  text: string,
  given: ReadonlyMap<string, number>,
  { own, page }: { own: string[]; page: Page } = { own: [], page: { references: [], round: 0 } },
): { text: string; oldest: number } {
  let plain = decoded(text.slice(0, charsMax))
  let oldest = Number.POSITIVE_INFINITY
  for (const [state, round] of given) {
    if (!plain.includes(state)) continue
    plain = plain.replaceAll(state, mark)
    oldest = Math.min(oldest, round)
  }
  plain = plain
    .replace(random, (whole, before, value) => (isState(value) ? before + mark : whole))
    .replace(redirect, `$1${mark}`)
    .replace(lastLines, `$1${mark}`)
    .replace(listening, (whole, before, value) => (own.includes(value) ? before + mark : whole))
  if (page.references.length > 0) {
    const placed = withReferences(plain, (reference) => {
      const at = page.references.indexOf(reference)
      return at < 0 ? reference : `<reference ${at}>`
    })
    if (placed !== plain) {
      plain = placed.replace(elementWords, '')
      oldest = Math.min(oldest, page.round)
    }
  }
  return { text: plain + text.slice(charsMax), oldest }
}

/** The references of the elements of a page, in order, and the round that returned them. */
export type Page = { references: string[]; round: number }

const elementWords = /"(?:element|description)" ?: ?"[^"]*"/g

/** Addresses within addresses are percent-encoded, some of them twice. */
function decoded(text: string): string {
  return text.replace(/%(?:25)?(?:3A|2F|3D|26|3F)/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(-2), 16)),
  )
}

/** The level in a log of JSON or of members. */
const errorLevel = /\b(?:level|severity|lvl)"?[:=] ?"?(?:error|fatal|panic|critical)\b/i
const crashed = /back-?off|OOMKilled|\berrored\b|Restarting \(\d/i
const crash = /restart|back-?off|errored|OOMKilled/i
const restarts = /(restart(?:s|_?count| count(?:er is at)?)?"?[:=]? ?)\d+|\(x\d+ over \w+\)/gi
/** In a row with such a state: numbers, but no exit code. At the end of a row: the age. */
const counts = /(?<![\w.(/-])\d+(?![\w./)-])/g
const ages = /(?: {2,}|"age" ?: ?")\d+[smhdwy](?:\d+[smh])?(?=$|")/gm
/** The process in a line of syslog. */
const processOfLine = /(?<=\w\[)\d+(?=\]:)/g

function withoutRestarts(text: string): string {
  return text
    .replace(restarts, `$1${mark}`)
    .replace(ages, ` ${mark}`)
    .replace(processOfLine, mark)
    .split('\n')
    .map((row) => (crash.test(row) ? row.replace(counts, mark) : row))
    .join('\n')
}

/** Not a plain word or a small number: somebody chose the state `open`. */
function isState(value: string): boolean {
  return /\d/.test(value) || value.length >= 16
}

function isRandomHost(label: string, rest: string): boolean {
  return tunnel.test(rest) || withoutRandom(`.${label}`) !== `.${label}`
}
