// Validator: checks each call of a response against the declaration that its request offered.
// Reads: rounds-proposed. Writes: round-checked to rounds-checked.
// Owns: the calls that are denied before they can run, and the text that the model then reads.
// Does not own: the arguments (accumulator), the number of repeated mistakes and the turn's calls
// (loop-detector), running (executor).
//
// Stateless: the judgement of a round depends on its record alone.
// A call that cannot be judged does not run (R6): an unknown tool, an unusable schema,
// arguments that are no JSON object or that two readers would read differently.
// A call without arguments, in any spelling, runs only by the rule of I1.1: its tool accepts
// `{}`. Then it loses its problem. Its source and repair still show the sent text.
// A call that passes keeps its text. Two repairs, on record, lose nothing: a value that was
// encoded twice is decoded, and 30.0 becomes 30 where the schema wants an integer.
// The text that passes is the text that was judged. A value that was encoded once too often is
// decoded first (encoded-values.ts), and all checks see the result.

import type { ErrorObject } from 'ajv'
import {
  compiledSchema,
  type UsableSchema,
} from '../../shared/contract/arguments/compiled-schema.ts'
import { withDecodedValues } from '../../shared/contract/arguments/encoded-values.ts'
import { membersFault } from '../../shared/contract/arguments/members.ts'
import { missingFrom, requiredFields } from '../../shared/contract/arguments/required-fields.ts'
import {
  acceptedFields,
  schemaFault,
  schemaHint,
} from '../../shared/contract/arguments/schema-fault.ts'
import { nameFault } from '../../shared/contract/arguments/tool-name.ts'
import { argumentText } from '../../shared/contract/call/call.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Call, Denial, RoundChecked, RoundProposed } from '../../shared/contract/messages.ts'
import { closed, type Stage } from '../../shared/contract/stage.ts'
import { isObject, jsonIn } from '../../shared/lib/json/json-object.ts'
import { textTooLong } from '../../shared/model-texts/arguments.ts'
import { withoutOtherBranches } from './branch-faults.ts'
import { notAnObject, problemFinding, unreadable } from './call-problem.ts'
import { denial, type Finding, missingFields } from './directive.ts'
import { inexactNumber } from './inexact-number.ts'
import { nameVariant } from './name-variant.ts'
import { inexactFinding, memberFinding, variantFinding } from './reader-finding.ts'
import { unknownTool, unusableSchema } from './tool-finding.ts'
import { type Watch, watchOf } from './watch.ts'
import { withWholeNumbers } from './whole-numbers.ts'

/** Only short arguments get all errors: a long list can have one for each item. */
const explainedCharactersMax = 16_384
const alsoWrongMax = 5
const examinedErrorsMax = 8_192

export const validator: Stage<never, RoundProposed> = {
  name: 'validator',
  unit: () => '',
  due: () => undefined,
  wants: () => [],
  react: (_, { message }) => ({ records: [{ to: 'next', message: checked(message) }] }),
  failed: () => closed,
}

function checked(round: RoundProposed): RoundChecked {
  const {
    conversation,
    turn,
    response,
    failure,
    declarations,
    agent,
    policy,
    callsLeft,
    expiresAt,
  } = round
  const judged = failure === null ? response.calls.map((call) => judge(call, round)) : []
  return {
    type: 'round-checked',
    conversation,
    turn,
    round: round.round,
    response: failure === null ? { ...response, calls: judged.map(({ call }) => call) } : response,
    failure,
    denials: judged.flatMap(({ denial }) => denial ?? []),
    declarations,
    agent,
    policy,
    callsLeft,
    expiresAt,
  }
}

type Judged = { call: Call; denial?: Denial }

function judge(call: Call, { declarations, offered, response, policy }: RoundProposed): Judged {
  const declaration = declarations.find(({ name }) => name === call.name)
  const template = declaration?.hints?.denial ?? null
  const refuse = (finding: Finding, requiredFields: string[] = []): Judged => ({
    call,
    denial: denial(finding, { call, requiredFields, template }),
  })

  if (declaration === undefined || nameFault(call.name) !== undefined)
    return refuse(unknownTool(call.name, offered))
  const schema = compiledSchema(declaration.schema)
  if (schema.kind === 'unusable') return refuse(unusableSchema(call.name, schema.reason))
  const required = requiredFields(schema.schema)

  if (call.problem === 'no_arguments' && schema.judge({}).kind === 'valid')
    return { call: { ...call, problem: null } }
  if (call.problem !== null)
    return refuse(
      problemFinding(call.problem, call, response.stop, missingFrom({}, schema.schema)),
      required,
    )

  const found = checkedArguments(call, schema, watchOf(call.name, policy))
  if ('reason' in found) return refuse(found, required)
  const decoded = repaired(call, found.text, 'encoded-value')
  const whole = withWholeNumbers(decoded.raw, schema.schema)
  return { call: repaired(decoded, whole ?? decoded.raw, 'whole-number') }
}

/** `text`: the argument text of the call, changed by the repair `how` or not at all. */
function repaired(call: Call, text: string, how: string): Call {
  if (text === argumentText(call)) return call
  const before = call.repair ?? { sent: call.raw, how: [] }
  return { ...call, raw: text, repair: { sent: before.sent, how: [...before.how, how] } }
}

/** `text`: the argument text that may reach the tool. It differs from the call's if it is decoded. */
type Checked = { text: string } | Finding

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
