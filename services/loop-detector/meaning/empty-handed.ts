// The answer of a search without hits. Some answers repeat the words of the search: `No results for
// "x"`, `{"query":"x","results":[]}`. Without these words they are one answer. The silence of a
// shell is none: it is also the good answer of many checks.

import { echoesOf } from '../../../shared/contract/identity/arguments.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { masked, withoutEchoes } from '../evidence/mask.ts'

/** `answer`: its beginning, masked. */
export function isEmptyHanded(answer: string): boolean {
  return (
    emptyHanded.test(answer) ||
    (answer.length < emptyCharsMax && (noneFound.test(answer) || ended.test(answer))) ||
    (answer.includes('[]') && emptyObject.test(answer))
  )
}

/**
 * The masked answer without the words of its call, if it has no hits and repeats some of them.
 * Undefined: any other answer. `value`: the arguments of the call.
 */
export function emptyHandedAnswer(value: unknown, text: string): string | undefined {
  if (text.length > echoCharsMax || !mayBeEmpty.test(text)) return undefined // nearly always
  const plain = withoutEchoes(text, [...echoesOf(value), ...pagesOf(value)])
  if (plain === text) return undefined
  const answer = masked(plain)
  return isEmptyHanded(answer) ? answer : undefined
}

function pagesOf(value: unknown): string[] {
  const members = isObject(value) ? Object.values(value) : []
  return members.filter((member) => typeof member === 'number').map(String)
}

/** Longer answers have more than the words of a search. */
const echoCharsMax = 512
const mayBeEmpty = /^\s*(?:found (?:no|0)|no|0|zero|nothing|not)\b|\[\]/i

const emptyHanded =
  /^(?:\[\]|\{\}|(?:found )?(?:no|0|zero) (?:results?|match|matches|hits?|entries|records?|items?|rows?|documents?|files?)\b.*|nothing found\.?|not found\.?)$/i
/**
 * "No flights found on this day.", "No rooms available". Longer answers may have hits as well. "No
 * problems found" is the good answer of a check.
 */
const noneFound =
  /^no (?!.*\b(?:problem|issue|error|fault|warning|vulnerabilit|conflict|difference|change|violation|bug|leak|failure|threat|virus|duplicate|regression|update)).{0,80}\b(?:found|matched|available)\b.{0,80}$/i
const ended =
  /\bno more (?:content|results|items|pages|data|entries|records)\b|\b(?:reached|already at) the (?:end|bottom|top)\b|\b(?:end|bottom) of (?:the )?(?:page|list|results|feed|document)\b/i
const emptyCharsMax = 100
/** An object with an empty list. Its other members repeat the call, or are zeros and switches. */
const emptyObject =
  /^\{ ?(?:"[\w-]{1,32}" ?: ?(?:"(?:<argument>)?"|\[\]|0|null|true|false)(?: ?, ?)?){1,16} ?\}$/
