// What the model reads when a call is refused (I1). Whoever repeats a call without knowing why it failed repeats it for ever: so the text says what
// was wrong, what was sent, that the same will fail again, and that an answer in text is possible.
//
// D1. The four lines of the frame stand first and are the same for every refusal; what else helps comes after them.
// D2. What the model sent is untrusted: it is shown within bounds, well-formed, and names are escaped so that they cannot look like our words.

import { listed, quoted, shownName } from '../../shared/arguments/name-text.ts'
import { limits } from '../../shared/limits.ts'
import type { Rejection } from '../../shared/messages.ts'
import { shortened } from '../../shared/text-cut.ts'

/** Why a call is refused, in pieces. */
export type Refusal = {
  code: Rejection['code']
  /** The short reason; the same for the same mistake, because loop keys are made of it. */
  reason: string
  /** What the first line says beyond the reason: a position, what was found there. */
  detail?: string
  /** What the model does not know: names of fields, or in general. */
  unknown: readonly string[] | 'arguments' | 'tool'
  /** Whole sentences: what would be accepted, what else is wrong. */
  notes?: readonly string[]
}

/** The rejection as it goes into the record. `sent`: the raw argument text. `requiredFields`: as far as the schema could be read. */
export function rejection(refusal: Refusal, call: { ordinal: number; raw: string }, requiredFields: readonly string[]): Rejection {
  return {
    ordinal: call.ordinal,
    code: refusal.code,
    reason: shortened(refusal.reason, limits.reasonBytesMax),
    text: directive(refusal, call.raw),
    requiredFields: namesWithin(requiredFields, requiredFieldsBytesMax),
  }
}

/** Up to 256 rejections go into one record, each with the names of its tool's fields. */
const requiredFieldsBytesMax = 2_048
const sentCharactersMax = 2_000
const foundBytesMax = 1_024
const noteBytesMax = 1_024

function directive({ reason, detail, unknown, notes = [] }: Refusal, sent: string): string {
  const { what, verb } = unknownWords(unknown)
  return [
    `Tool call rejected before execution: ${shortened(detail === undefined ? reason : `${reason}: ${detail}`, foundBytesMax)}.`,
    `You sent: ${shownArguments(sent)}`,
    `Do not retry with the same arguments. If you do not know what ${what}`,
    `to ${verb}, respond in text and ask the user for clarification.`,
    ...notes.map((note) => shortened(note, noteBytesMax)),
  ].join('\n')
}

function unknownWords(unknown: Refusal['unknown']): { what: string; verb: string } {
  if (typeof unknown === 'string') return { what: unknown, verb: 'use' }
  if (unknown.length === 1 && unknown[0] === 'command') return { what: 'command', verb: 'run' }
  if (unknown.length === 1) return { what: listed(unknown.map(shownName), 'and'), verb: 'use' }
  return { what: 'values', verb: `use for ${listed(unknown.map(quoted), 'and')}` }
}

/** The arguments as sent, or their beginning. No argument text at all reads `{}`: that is how the call stands in the model's own history. */
function shownArguments(raw: string): string {
  if (raw === '') return '{}'
  if (raw.length <= sentCharactersMax) return raw.toWellFormed()
  const isPairCut = /[\uD800-\uDBFF]/.test(raw.charAt(sentCharactersMax - 1))
  const beginning = raw.slice(0, isPairCut ? sentCharactersMax - 1 : sentCharactersMax).toWellFormed()
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
