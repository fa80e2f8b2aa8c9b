// Validator: checks each call of a response against the declaration that its request offered.
// Reads: rounds-proposed. Writes: round-checked to rounds-checked.
// Owns: the calls that are denied before they can run, and the text that the model then reads.
// Does not own: the arguments (accumulator), the number of repeated mistakes and the turn's calls
// (loop-detector), running (executor).
//
// VAL-1. Stateless: the judgement of a round depends on its record alone.
// VAL-2. A call that cannot be judged does not run (R6): an unknown tool, an unusable schema,
//     arguments that are no JSON object or that two readers would read differently.
// VAL-3. A call without arguments, in any spelling, runs only by the rule of I1.1: its tool accepts
//     `{}`. Then it loses its problem. Its source and repair still show the sent text.
// VAL-4. A call that passes keeps its text. Two repairs, on record, lose nothing: a value that was
//     encoded twice is decoded, and 30.0 becomes 30 where the schema wants an integer.

import { compiledSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import { missingFrom, requiredFields } from '../../shared/contract/arguments/required-fields.ts'
import { nameFault } from '../../shared/contract/arguments/tool-name.ts'
import { argumentText } from '../../shared/contract/call/call.ts'
import type { Call, Denial, RoundChecked, RoundProposed } from '../../shared/contract/messages.ts'
import { closed, type Stage } from '../../shared/contract/stage.ts'
import { checkedArguments } from './arguments-check.ts'
import { problemFinding } from './call-problem.ts'
import { denial, type Finding } from './directive.ts'
import { unknownTool, unusableSchema } from './tool-finding.ts'
import { watchOf } from './watch.ts'
import { withWholeNumbers } from './whole-numbers.ts'

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
    return { call: { ...call, problem: null } } // VAL-3
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

/** Keeps VAL-4. `text`: the argument text of the call, changed by the repair `how` or not at all. */
function repaired(call: Call, text: string, how: string): Call {
  if (text === argumentText(call)) return call
  const before = call.repair ?? { sent: call.raw, how: [] }
  return { ...call, raw: text, repair: { sent: before.sent, how: [...before.how, how] } }
}
