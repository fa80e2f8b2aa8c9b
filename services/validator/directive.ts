// Builds the text that the model reads when a call is denied (I1). A model that does not know why
// a call failed repeats it forever. So the text names the mistake and the sent arguments. It also
// states that the same call will fail again and that a text answer is possible.
//
// The four lines of the frame come first and are the same for every finding. Other
// help follows.
// A tool may replace all of that with its template, but only for calls of an offered
// tool. The breaker of I5.2 replaces either.
// Text from the model is untrusted. It is bounded and well-formed, and names are
// escaped, because they must not look like Weir's words.

import { filledTemplate } from '../../shared/contract/arguments/denial-template.ts'
import { listed, quoted, shownName } from '../../shared/contract/arguments/name-text.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Call, Denial } from '../../shared/contract/messages.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import * as texts from '../../shared/model-texts/denied-calls.ts'

/** The reasons for denying a call, in pieces. */
export type Finding = {
  code: Denial['code']
  /** The short reason. Equal mistakes have equal reasons, because loop keys consist of them. */
  reason: string
  /** Details for the first line, such as a position and the text at it. */
  detail?: string
  /** The subject of the mistake: names of fields, or a general one. */
  unknown: readonly string[] | 'arguments' | 'tool'
  /** Other mistakes, worded like the reason. */
  alsoWrong?: readonly string[]
  /** Whole sentences that state accepted values. */
  notes?: readonly string[]
}

/**
 * The denied call and the known facts of its tool: the required fields, if the schema is readable,
 * and its template for findings.
 */
export type Denied = {
  call: Pick<Call, 'ordinal' | 'name' | 'raw'>
  requiredFields: readonly string[]
  template: string | null
}

/** The denial for the record. */
export function denial(finding: Finding, { call, requiredFields, template }: Denied): Denial {
  return {
    ordinal: call.ordinal,
    code: finding.code,
    reason: shortened(finding.reason, limits.reasonBytesMax),
    text:
      template === null
        ? directive(finding, call.raw)
        : filledFinding(template, finding, call, requiredFields),
    requiredFields: namesWithin(requiredFields, requiredFieldsBytesMax),
  }
}

/** One record holds up to 256 denials, each with the names of its tool's fields. */
const requiredFieldsBytesMax = 2_048
const sentCharactersMax = 2_000
const foundBytesMax = 1_024
const noteBytesMax = 1_024

function directive(finding: Finding, sent: string): string {
  const { unknown, alsoWrong = [], notes = [] } = finding
  return [
    ...texts.wrongArguments(`${foundIn(finding)}.`, shownArguments(sent), unknownSubject(unknown)),
    ...(alsoWrong.length === 0
      ? []
      : [shortened(texts.alsoWrong(alsoWrong.join('; ')), noteBytesMax)]),
    ...notes.map((note) => shortened(note, noteBytesMax)),
  ].join('\n')
}

function foundIn({ reason, detail }: Finding): string {
  return shortened(detail === undefined ? reason : `${reason}: ${detail}`, foundBytesMax)
}

/** Fills the tool's template (`denial` in the agent file) with the same pieces. */
function filledFinding(
  template: string,
  finding: Finding,
  { name, raw }: Denied['call'],
  requiredFields: readonly string[],
): string {
  const { alsoWrong = [], notes = [] } = finding
  const required =
    requiredFields.length === 0 ? [] : [texts.requiredFields(listed(requiredFields.map(quoted)))]
  const slots = {
    problems: shortened([foundIn(finding), ...alsoWrong].join('; '), foundBytesMax + noteBytesMax),
    accepted: shortened([...notes, ...required].join(' '), noteBytesMax),
    sent: shownArguments(raw),
    tool: shownName(name),
  }
  return shortened(filledTemplate(template, slots), limits.denialTextBytesMax)
}

function unknownSubject(unknown: Finding['unknown']): { what: string; verb: string } {
  if (typeof unknown === 'string') return { what: unknown, verb: 'use' }
  if (unknown.length === 1 && unknown[0] === 'command') return { what: 'command', verb: 'run' }
  if (unknown.length === 1) return { what: listed(unknown.map(shownName), 'and'), verb: 'use' }
  return { what: 'values', verb: `use for ${listed(unknown.map(quoted), 'and')}` }
}

/**
 * The sent arguments or their beginning. Without argument text it is `{}`, because the model's
 * history shows the call like that.
 */
function shownArguments(raw: string): string {
  if (raw === '') return '{}'
  if (raw.length <= sentCharactersMax) return raw.toWellFormed()
  const isPairCut = /[\uD800-\uDBFF]/.test(raw.charAt(sentCharactersMax - 1))
  const beginning = raw
    .slice(0, isPairCut ? sentCharactersMax - 1 : sentCharactersMax)
    .toWellFormed()
  return `${beginning}… (the first ${beginning.length} of ${raw.length} characters)`
}

/** "missing required field 'a'", "missing required fields 'a', 'b'". */
export function missingFields(names: readonly string[]): string {
  return `missing required field${names.length === 1 ? '' : 's'} ${listed(names.map(quoted))}`
}

/** The first names that fit, whole. */
function namesWithin(names: readonly string[], bytesMax: number): string[] {
  let bytes = 0
  return names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= bytesMax
  })
}
