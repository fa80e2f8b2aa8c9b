// Checks the arguments of a call against the schema of its tool: one JSON object that all readers
// read alike and the schema allows.
//
// ARGUMENTS-CHECK-1. The text that passes is the text that was judged. A value that was encoded once
//     too often is decoded first (encoded-values.ts), and all checks see the result.

import type { ErrorObject } from 'ajv'
import type { UsableSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import { withDecodedValues } from '../../shared/contract/arguments/encoded-values.ts'
import { membersFault } from '../../shared/contract/arguments/members.ts'
import { missingFrom } from '../../shared/contract/arguments/required-fields.ts'
import {
  acceptedFields,
  schemaFault,
  schemaHint,
} from '../../shared/contract/arguments/schema-fault.ts'
import { argumentText } from '../../shared/contract/call/call.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Call } from '../../shared/contract/messages.ts'
import { isObject, jsonIn } from '../../shared/lib/json/json-object.ts'
import { textTooLong } from '../../shared/model-texts/arguments.ts'
import { withoutOtherBranches } from './branch-faults.ts'
import { notAnObject, unreadable } from './call-problem.ts'
import { type Finding, missingFields } from './directive.ts'
import { inexactNumber } from './inexact-number.ts'
import { nameVariant } from './name-variant.ts'
import { inexactFinding, memberFinding, variantFinding } from './reader-finding.ts'
import { unusableSchema } from './tool-finding.ts'
import type { Watch } from './watch.ts'

/** Only short arguments get all errors: a long list can have one for each item. */
const explainedCharactersMax = 16_384
const alsoWrongMax = 5
const examinedErrorsMax = 8_192

/** `text`: the argument text that may reach the tool. It differs from the call's if it is decoded. */
export type Checked = { text: string } | Finding

export function checkedArguments(call: Call, schema: UsableSchema, watch: Watch): Checked {
  const text = argumentText(call)
  const finding = findingOf(text, call.name, schema, watch)
  if (finding?.code !== 'schema') return finding ?? { text }
  const decoded = withDecodedValues(text, schema)
  return decoded === undefined
    ? finding
    : (findingOf(decoded, call.name, schema, watch) ?? { text: decoded })
}

/** The reason why these arguments must not reach the tool. Undefined: they may. */
function findingOf(
  text: string,
  tool: string,
  { schema, judge, explain }: UsableSchema,
  watch: Watch,
): Finding | undefined {
  const value = jsonIn(text) // the accumulator checks this too, but a guard checks again
  if (value === undefined) return unreadable(text)
  if (!isObject(value)) return notAnObject(text)
  const fault = membersFault(text, limits.argumentDepthMax)
  if (fault !== undefined)
    return fault.kind === 'too-deep' ? unreadable(text) : memberFinding(fault)

  const missing = missingFrom(value, schema)
  const judgement = judge(value)
  switch (judgement.kind) {
    case 'text-too-long': {
      const reason = `a text of more than ${limits.patternTextMax} characters cannot be checked against its pattern`
      return {
        code: 'bad_arguments',
        reason,
        unknown: 'arguments',
        notes: [textTooLong],
      }
    }
    case 'unjudged':
      return unusableSchema(tool, judgement.reason)
    case 'valid':
      return missing.length === 0
        ? readersFinding(text, value, schema, watch)
        : { code: 'schema', reason: missingFields(missing), unknown: missing }
    case 'invalid': {
      const explained = text.length <= explainedCharactersMax ? explain(value) : judgement
      const all = explained.kind === 'invalid' ? explained.errors : []
      return schemaFinding({ first: judgement.errors, all, missing, schema })
    }
  }
}

/** Why other readers could read these valid arguments differently. Undefined: none could. */
function readersFinding(
  text: string,
  value: unknown,
  schema: Record<string, unknown>,
  watch: Watch,
): Finding | undefined {
  const variant = nameVariant(value, [schema, ...watch.ruled])
  if (variant !== undefined) return variantFinding(variant)
  const number = inexactNumber(text, schema, watch)
  return number === undefined ? undefined : inexactFinding(number)
}

/**
 * The mistakes of a call. `first`: the errors at which the check stopped, each after the errors of
 * its branches. `missing` has priority over all others.
 */
type Mistakes = {
  first: ErrorObject[]
  all: ErrorObject[]
  missing: string[]
  schema: Record<string, unknown>
}

function schemaFinding({ first, all, missing, schema }: Mistakes): Finding {
  const outermost = withoutOtherBranches(first).at(-1)
  const primary =
    outermost === undefined
      ? { words: 'the arguments break the schema', fields: [] }
      : schemaFault(outermost)
  const reason = missing.length > 0 ? missingFields(missing) : primary.words
  const fields = missing.length > 0 ? missing : primary.fields

  const reported = reportedErrors(withoutOtherBranches(all), missing, reason)
  const alsoWrong = reported.map(({ words }) => words).filter((words) => words !== reason)
  const hints = [...new Set(reported.flatMap(({ error }) => schemaHint(error) ?? []))].slice(
    0,
    alsoWrongMax,
  )
  const accepted = all.some(({ keyword }) => keyword === 'additionalProperties')
    ? acceptedFields(schema)
    : []
  return {
    code: 'schema',
    reason,
    unknown: fields.length > 0 ? fields : 'arguments',
    alsoWrong,
    notes: [...hints, ...accepted],
  }
}

/**
 * The errors to report, each text once: the reason's error, if it occurs, and `alsoWrongMax`
 * others. There may be thousands.
 */
function reportedErrors(
  all: ErrorObject[],
  missing: string[],
  reason: string,
): { words: string; error: ErrorObject }[] {
  const reported = new Map<string, ErrorObject>()
  let others = 0
  for (const error of all.slice(0, examinedErrorsMax)) {
    if (others === alsoWrongMax) break
    if (isAbout(error, missing)) continue
    const { words } = schemaFault(error)
    if (reported.has(words)) continue
    reported.set(words, error)
    if (words !== reason) others += 1
  }
  return [...reported].map(([words, error]) => ({ words, error }))
}

/**
 * Whether the error only repeats that a required field is missing, or denies the null in its
 * place.
 */
function isAbout({ keyword, instancePath, params }: ErrorObject, missing: string[]): boolean {
  if (keyword === 'required' && instancePath === '')
    return missing.includes(String(params.missingProperty))
  return missing.some(
    (name) => instancePath === `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  )
}
