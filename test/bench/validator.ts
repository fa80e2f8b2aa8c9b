// The validator's time for a round of one call that passes, with arguments of typical size and with
// a long text, and for a rejected one. The baseline is the task without its surroundings:
// JSON.parse of the same text and a precompiled Ajv function.
//
// CPU time of the process, so other programs of the machine do not count.
//
// Not measured: compiling a schema the first time (once for each process and schema), reading and
// writing the records.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { validator } from '../../services/validator/reducer.ts'
import { defaultPolicy } from '../../shared/agents/policy/policy.ts'
import type { RoundProposed } from '../../shared/contract/messages.ts'
import { callWith, declarationWith, responseWith } from '../support/messages.ts'
import type { Row } from './row.ts'

const laps = 30

const schema = {
  type: 'object',
  properties: {
    command: { type: 'string', minLength: 1 },
    timeout: { type: 'integer', minimum: 1 },
    cwd: { type: 'string' },
    environment: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['command'],
  additionalProperties: false,
}

/** All rows of the validator. */
export function benchValidator(): Row[] {
  const short = JSON.stringify({
    command: 'grep -rn "needle" src | head -50',
    timeout: 30,
    environment: { LANG: 'C', HOME: '/tmp' },
  })
  const long = JSON.stringify({ command: 'a line of a file\n'.repeat(3_000) })
  return [
    ...rowsFor('150 bytes of arguments', short, 5_000),
    ...rowsFor('50 KiB of arguments', long, 50),
    ...rowsFor('refused', '{}', 2_000),
  ]
}

function rowsFor(name: string, raw: string, rounds: number): Row[] {
  const message = proposedWith(raw)
  const bare = new Ajv2020().compile(schema)
  const bareNs = nsPerRound(rounds, () => (bare(JSON.parse(raw)) ? 0 : 1))
  const ns = nsPerRound(rounds, () => {
    const output = validator.react(undefined, { message, offset: 0, previous: undefined, time: 0 })
      .records?.[0]?.message
    return output?.type === 'round-checked' ? output.denials.length : Number.NaN
  })
  return [
    { name: `a call, ${name}: records/s`, value: 1e9 / ns, unit: 'records/s' },
    {
      name: `a call, ${name}`,
      value: ns,
      unit: 'ns',
      baseline: 'JSON.parse and Ajv alone',
      ratio: ns / bareNs,
    },
  ]
}

function proposedWith(raw: string): RoundProposed {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const calls = [callWith({ raw })]
  return {
    type: 'round-proposed',
    conversation: 'c',
    turn: 1,
    round: 1,
    response: responseWith({ calls, finish: 'tool_use', usage }),
    failure: null,
    offered: ['exec'],
    declarations: [declarationWith({ schema: JSON.stringify(schema), timeoutMs: 1 })],
    agent: 'a',
    policy: defaultPolicy,
    callsLeft: 1,
    expiresAt: 1,
  }
}

/**
 * The median of some laps of `rounds` each, after some to warm up. `judge` returns the number of
 * denials.
 */
function nsPerRound(rounds: number, judge: () => number): number {
  const lap = () => {
    let denials = 0
    for (let i = 0; i < rounds; i += 1) denials += judge()
    if (denials !== 0 && denials !== rounds)
      throw new Error('the bench has different verdicts for the same round')
  }
  for (let i = 0; i < laps / 3; i += 1) lap()
  const times = Array.from({ length: laps }, () => {
    const begun = process.cpuUsage()
    lap()
    const { user, system } = process.cpuUsage(begun)
    return ((user + system) * 1_000) / rounds
  })
  return times.sort((a, b) => a - b)[laps >> 1] ?? 0
}

if (import.meta.main) console.table(benchValidator())
