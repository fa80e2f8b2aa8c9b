// What the model reads when a call is refused (I1). Whoever repeats a call without knowing why it
// failed repeats it for ever: so the text says what was wrong, what was sent, that the same will
// fail again, and that an answer in text is possible.
//
// DIRECTIVE-1. The four lines of the frame stand first and are the same for every refusal; what
//     else helps comes after them.
// DIRECTIVE-2. A tool may have a text of its own in the place of all that; a call of no tool that
//     was offered cannot. The breaker of I5.2 replaces either.
// DIRECTIVE-3. What the model sent is untrusted: it is shown within bounds, well-formed, and names
//     are escaped so that they cannot look like our words.

import { listed, quoted, shownName } from '../../shared/contract/arguments/name-text.ts'
import { filledTemplate } from '../../shared/contract/arguments/refusal-template.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Call, Rejection } from '../../shared/contract/messages.ts'
import { shortened } from '../../shared/lib/text-cut.ts'

/** Why a call is refused, in pieces. */
export type Refusal = {
  code: Rejection['code']
  /** The short reason; the same for the same mistake, because loop keys are made of it. */
  reason: string
  /** What the first line says beyond the reason: a position, what was found there. */
  detail?: string
  /** What the model does not know: names of fields, or in general. */
  unknown: readonly string[] | 'arguments' | 'tool'
  /** What else is wrong, as the reason says it. */
  alsoWrong?: readonly string[]
  /** Whole sentences: what would be accepted. */
  notes?: readonly string[]
}

/**
 * The call that is refused, and what is known of its tool: its required fields, as far as the
 * schema could be read, and its own text of refusals.
 */
export type Refused = {
  call: Pick<Call, 'ordinal' | 'name' | 'raw'>
  requiredFields: readonly string[]
  template: string | null
}

/** The rejection as it goes into the record. */
export function rejection(
  refusal: Refusal,
  { call, requiredFields, template }: Refused,
): Rejection {
  return {
    ordinal: call.ordinal,
    code: refusal.code,
    reason: shortened(refusal.reason, limits.reasonBytesMax),
    text:
      template === null
        ? directive(refusal, call.raw)
        : worded(template, refusal, call, requiredFields),
    requiredFields: namesWithin(requiredFields, requiredFieldsBytesMax),
  }
}

/** Up to 256 rejections go into one record, each with the names of its tool's fields. */
const requiredFieldsBytesMax = 2_048
const sentCharactersMax = 2_000
const foundBytesMax = 1_024
const noteBytesMax = 1_024

function directive(refusal: Refusal, sent: string): string {
  const { unknown, alsoWrong = [], notes = [] } = refusal
  const { what, verb } = unknownWords(unknown)
  return [
    `Tool call rejected before execution: ${foundIn(refusal)}.`,
    `You sent: ${shownArguments(sent)}`,
    `Do not retry with the same arguments. If you do not know what ${what}`,
    `to ${verb}, respond in text and ask the user for clarification.`,
    ...(alsoWrong.length === 0
      ? []
      : [shortened(`Also wrong: ${alsoWrong.join('; ')}.`, noteBytesMax)]),
    ...notes.map((note) => shortened(note, noteBytesMax)),
  ].join('\n')
}

function foundIn({ reason, detail }: Refusal): string {
  return shortened(detail === undefined ? reason : `${reason}: ${detail}`, foundBytesMax)
}

/**
 * The tool's own words (the agent file's `refusal`): the same pieces, in the places where its
 * author wants them.
 */
function worded(
  template: string,
  refusal: Refusal,
  { name, raw }: Refused['call'],
  requiredFields: readonly string[],
): string {
  const { alsoWrong = [], notes = [] } = refusal
  const required =
    requiredFields.length === 0 ? [] : [`Required fields: ${listed(requiredFields.map(quoted))}.`]
  const slots = {
    problems: shortened([foundIn(refusal), ...alsoWrong].join('; '), foundBytesMax + noteBytesMax),
    accepted: shortened([...notes, ...required].join(' '), noteBytesMax),
    sent: shownArguments(raw),
    tool: shownName(name),
  }
  return shortened(filledTemplate(template, slots), limits.refusalTextBytesMax)
}

function unknownWords(unknown: Refusal['unknown']): { what: string; verb: string } {
  if (typeof unknown === 'string') return { what: unknown, verb: 'use' }
  if (unknown.length === 1 && unknown[0] === 'command') return { what: 'command', verb: 'run' }
  if (unknown.length === 1) return { what: listed(unknown.map(shownName), 'and'), verb: 'use' }
  return { what: 'values', verb: `use for ${listed(unknown.map(quoted), 'and')}` }
}

/**
 * The arguments as sent, or their beginning. No argument text at all reads `{}`: that is how the
 * call stands in the model's own history.
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

/** As many of the names as fit, whole. */
function namesWithin(names: readonly string[], bytesMax: number): string[] {
  let bytes = 0
  return names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= bytesMax
  })
}
