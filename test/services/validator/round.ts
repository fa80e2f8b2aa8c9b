// Proposed rounds for tests of the validator, and the validator's answers.

import { validator } from '../../../services/validator/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type {
  Call,
  Declaration,
  Denial,
  RoundChecked,
  RoundProposed,
} from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { callWith, declarationWith, responseWith } from '../../support/messages.ts'

/** A tool with this schema. A string is used as JSON text. */
export function tool(name: string, schema: unknown): Declaration {
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema)
  return declarationWith({ name, schema: text })
}

export const exec = tool('exec', {
  type: 'object',
  properties: { command: { type: 'string' }, timeout: { type: 'integer' } },
  required: ['command'],
})

/** A call of exec with this argument text, as the accumulator finalizes a faultless one. */
export function callOf(raw: string, fields: Partial<Call> = {}): Call {
  return callWith({ id: 'id1', raw, source: raw === '' ? 'none' : 'deltas', ...fields })
}

export function proposed(
  calls: Call[],
  declarations: Declaration[] = [exec],
  fields: Partial<RoundProposed> = {},
): RoundProposed {
  return {
    type: 'round-proposed',
    conversation: 'c',
    turn: 7,
    round: 2,
    response: responseWith({
      attempt: 'a1',
      text: 'let me see',
      reasoning: '[]',
      calls,
      finish: 'tool_use',
      usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
    }),
    failure: null,
    offered: declarations.map(({ name }) => name),
    declarations,
    agent: 'agent',
    policy: defaultPolicy,
    callsLeft: 3,
    expiresAt: 60_000,
    ...fields,
  }
}

export function checked(round: RoundProposed): RoundChecked {
  const [record] = given(validator, round).to('next')
  if (record?.type !== 'round-checked') throw new Error('no round was checked')
  return record
}

/** The denial of this one call, or undefined. */
export function rejectionOf(
  call: Call,
  declarations?: Declaration[],
  fields?: Partial<RoundProposed>,
): Denial | undefined {
  return checked(proposed([call], declarations, fields)).denials[0]
}
