// The kind of a failure, from its error. The limit for repeats depends on whether the values in the
// call can be its cause. The phrases are those of tools, runtimes and HTTP services. An error
// without a match is `other`.

/**
 * `shape`: the arguments have the wrong form. `unknown_tool`: there is no such tool or command.
 * `denied`: not authorised, or refused by a person or a guard.
 *
 * `miss`: nothing was found. A program or module missing on the machine is `other`, because no
 * value in the call can provide it.
 *
 * `transient`: capacity or network, may recover. `bare`: a non-zero exit code without a reason.
 */
export type FailureKind =
  | 'shape'
  | 'unknown_tool'
  | 'denied'
  | 'miss'
  | 'transient'
  | 'other'
  | 'bare'

/** A number is a status only at the beginning or after such a word: 404 may also be a line. */
const status = (codes: string) =>
  new RegExp(
    `(?:^|\\b(?:http|status|code|error|response)(?:/[\\d.]+)?(?: is)?[ :=(]{1,2})(?:${codes})\\b`,
    'i',
  )

/**
 * The first match counts: "connection refused" is no refusal, and "unknown tool" is more than "not
 * found".
 */
const signs: { kind: FailureKind; phrases: RegExp[] }[] = [
  {
    kind: 'transient',
    phrases: [
      status('408|425|429|502|503|504|529'),
      /\bE(?:CONNREFUSED|CONNRESET|CONNABORTED|TIMEDOUT|HOSTUNREACH|NETUNREACH|PIPE|AGAIN|BUSY|AI_AGAIN)\b/,
      /\berrno:? ?(?:101|104|110|111|113)\b/i,
      /\btoo many requests\b|\brate.?limit|\bthrottl|(?<!\bdisk )\bquota\b|\bretry.?after\b|\btry again later\b/i,
      /\boverloaded\b|\b(?:over|insufficient) capacity\b|\b(?:service|server|temporarily|currently) unavailable\b|\bnot ready\b/i,
      /\bbad gateway\b|\btimed?[ -]?out\b|\btimed_?out"?[:=] ?true\b|\bdeadline exceeded\b/i,
      /\bconnection (?:was )?(?:refused|reset|closed|aborted|lost|error|failed)\b|\bsocket hang up\b|\bno route to host\b/i,
      /\bnetwork (?:is )?(?:error|unreachable|down|failure)\b|\btemporary failure\b/i,
      /\b(?:resource|database) (?:is )?(?:temporarily )?(?:busy|locked)\b|\bcould not (?:acquire|obtain) (?:a |the )?lock\b/i,
    ],
  },
  {
    kind: 'unknown_tool',
    phrases: [
      /\b(?:unknown|no such|undefined|unrecogni[sz]ed|invalid|non-?existent) tool\b|\bno tool (?:named|called)\b/i,
      /\btool ['"`]?[\w.:/-]{1,128}['"`]? (?:is |was )?(?:unknown|not (?:registered|found|available|defined|offered|known|supported))\b/i,
      /\bfunction ['"`]?[\w.:/-]{1,128}['"`]? is not (?:registered|available|offered|supported)\b|\bmethod not found\b/i,
      /\b(?:unknown|no such|unrecogni[sz]ed|invalid|unsupported) (?:sub)?(?:command|action|verb)\b/i,
      /\b(?:is|are)(?: not|n't) (?:recogni[sz]ed as (?:an? )?|an? )(?:\w{1,32} ){0,3}(?:command|action|verb)\b/i,
      /\btool ['"`]?[\w.:/-]{1,128}['"`]? (?:does not|doesn't|isn't) (?:exist|registered|available|defined|offered|known|supported)\b/i,
    ],
  },
  {
    kind: 'denied',
    phrases: [
      status('401|403|407'),
      /\bE(?:ACCES|PERM)\b/,
      /\bunauthori[sz]ed\b|\bnot authori[sz]ed\b|\bunauthenticated\b|\bauthentication (?:failed|required|error)|\blogin required\b|\bforbidden\b/i,
      /\b(?:access|permission|request|action|call|command|operation|tool use) (?:was |is )?(?:denied|declined|refused|rejected|blocked)\b|\bnot (?:permitted|allowed)\b/i,
      /\buser (?:has )?(?:denied|declined|refused|rejected|cancell?ed)\b|\buser (?:does not|doesn't|did not|didn't) want\b/i,
      /\b(?:denied|declined|refused|rejected|blocked|vetoed) by\b|\binsufficient (?:permission|privilege|scope|right)/i,
      /\b(?:token|credentials?|session|api key|certificate) (?:is |has |was )?(?:expired|revoked|invalid)\b/i,
      /\b(?:invalid|expired|missing|bad) (?:api |access )?(?:token|credentials?|key|signature)\b|\bsignature (?:mismatch|invalid|does(?: not|n't) match)/i,
    ],
  },
  {
    kind: 'shape',
    phrases: [
      status('400|422'),
      /\bmissing (?:\d+ )?(?:the )?(?:required|mandatory)\b|\bmissing ['"`]?[\w.-]{0,80}['"`]? ?(?:field|param|arg|propert|option|input)/i,
      /^(?:error: )?missing ['"`][\w.-]{1,80}['"`]\.?$/i,
      /\b(?:is|are|was) required\b|\brequired (?:field|param|arg|propert|option)|\bmust (?:not )?(?:be|have|contain|match)\b/i,
      /\bexpected (?:an? |type )?(?:string|number|integer|boolean|array|object|list|dict)\b/i,
      /\bnot (?:a )?(?:valid )?json\b|\bjson (?:parse|decode|syntax)|\bunexpected (?:token|propert|argument|keyword|end of (?:json|input))/i,
      /\binvalid (?:json|arguments?|params?|parameters?|type|format|schema|input|request)\b|\bbad request\b|\bunprocessable\b/i,
      /\b(?:unrecogni[sz]ed|unknown) (?:argument|option|key|field|propert|param)|\badditional propert/i,
      /\bvalidation (?:error|failed)|\bdoes(?: not|n't) match (?:the )?schema/i,
    ],
  },
  {
    kind: 'miss',
    phrases: [
      status('404|410'),
      /\bENO(?:ENT|TDIR)\b/,
      /\bno such\b|(?<!: command )\bnot found\b|\bdoes(?: not|n't) exist\b|\bno (?:match|result|hit|record|entr|row|item)|\bnothing (?:found|matched)\b/i,
      /\b(?:cannot|can't|could not|couldn't|unable to) (?:find|locate|resolve)\b(?! (?:the )?(?:module|package|library)\b)|\bmissing file\b/i,
      /\bno [\w'" -]{1,60}? (?:found|matched|available)\b/i,
      /\bunknown (?:user|host|id|city|name|column|table|symbol|revision|branch|package|module)\b/i,
    ],
  },
]

/**
 * Few expressions, because each one is a pass over the text: for each kind one for the
 * case-sensitive phrases and one for the others.
 */
const tests = signs.map(({ kind, phrases }) => ({
  kind,
  expressions: ['', 'i'].flatMap(
    (flags) => oneOf(phrases.filter((phrase) => phrase.flags === flags)) ?? [],
  ),
}))

function oneOf([first, ...others]: RegExp[]): RegExp | undefined {
  if (first === undefined) return undefined
  return new RegExp([first, ...others].map(({ source }) => `(?:${source})`).join('|'), first.flags)
}

/** The part of an error that shows its kind. */
const kindCharsMax = 2048

export function failureKindOf(error: string): FailureKind {
  const beginning = error.slice(0, kindCharsMax)
  if (isBare(beginning)) return 'bare'
  return (
    tests.find(({ expressions }) => expressions.some((expression) => expression.test(beginning)))
      ?.kind ?? 'other'
  )
}

/** Whether the failure comes with any values in the call. */
export function ignoresValues(kind: FailureKind): boolean {
  return kind === 'shape' || kind === 'unknown_tool' || kind === 'denied'
}

/** Whether it is the credentials that are refused, and not a right on one object. */
export function refusesCredentials(error: string): boolean {
  return credentials.some((phrase) => phrase.test(error))
}

const credentials = [
  status('401|407'),
  /\bunauthori[sz]ed\b|\bunauthenticated\b|\bauthentication (?:failed|required|error)|\blogin required\b/i,
  /\b(?:token|credentials?|session|api key|certificate) (?:is |has |was )?(?:expired|revoked|invalid)\b/i,
  /\b(?:invalid|expired|missing|bad)[ _](?:api |access )?(?:token|credentials?|key|signature)\b/i,
]

const bareWords = new Set(
  (
    'error the tool command process program script has failed failure exited terminated finished returned ended with a an non zero nonzero exit ' +
    'return code returncode exitcode status rc was killed by signal sigkill sigterm it its wrote nothing output'
  ).split(' '),
)
const exitWords = 'exit exitcode exited return returncode returned rc terminated signal'.split(' ')
const bareCharsMax = 80

/** The lines of a text that explain more than the failure itself, as one text. */
export function tellingLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isBare(line))
    .join('\n')
}

/**
 * Whether the error only states the failure: "exit code 2", "Command failed". A number is an exit
 * code only next to such a word: "status 503" explains more.
 */
export function isBare(error: string): boolean {
  if (error.length > bareCharsMax) return false
  let hasNumber = false
  let isExit = false
  for (const [word] of error.toLowerCase().matchAll(/[a-z]+|\d+|[^\s\da-z.,:;()='"!_-]/g)) {
    if (exitWords.includes(word)) isExit = true
    if (bareWords.has(word)) continue
    if (!/^\d{1,3}$/.test(word)) return false
    hasNumber = true
  }
  return isExit || !hasNumber
}
