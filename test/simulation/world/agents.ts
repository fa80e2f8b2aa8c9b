// The agents of a simulation: their tools and settings, rolled by the seed.

import type { Agent, Agents, Tool } from '../../../shared/agents/agents.ts'
import { defaultGuestSettings, type Guest } from '../../../shared/agents/guest.ts'
import { policyOf } from '../../../shared/agents/policy/policy.ts'
import type { Declaration } from '../../../shared/contract/messages.ts'
import { noModelLimits } from '../../../shared/runtime/budgets/request-line.ts'
import { declarationWith } from '../../support/messages.ts'
import type { Random } from '../random.ts'

const second = 1000

export const toolNames = ['read', 'send', 'look', 'status'] as const

export const agentNames = ['anna', 'bert'] as const

export function rollAgents(random: Random): Agents {
  return new Map(agentNames.map((name) => [name, rollAgent(random.fork(name), name)]))
}

function rollAgent(random: Random, name: string): Agent {
  const policy = policyOf({
    caps: {
      rounds: random.between(2, 10),
      calls: random.between(2, 20),
      wallMs: random.between(30, 600) * second,
      tokens: random.chance(0.2) ? 2000 : null,
    },
    loop: {
      identicalFailures: random.between(2, 3),
      identicalSuccesses: random.between(2, 5),
      cycleLaps: 3,
      schemaFailures: 3,
      schemaFailureEndsTurn: random.chance(0.3),
      waitMinutes: 60,
    },
    empty: { beforeTools: 2, afterTools: 3, perTurn: 10 },
    startWithinMs: random.pick([1, 1, 3, 10]) * second,
    graceMs: random.pick([1, 1, 5]) * second,
    toolTries: random.between(1, 3),
  })
  return {
    name,
    system: 'You are simulated.',
    model: {
      provider: 'anthropic',
      name: 'simulated',
      apiKey: 'none',
      maxOutputTokens: 1000,
      ...rollLimits(random.fork('limits')),
    },
    tools: toolNames.map((tool) => rollTool(random, tool)),
    settings: {
      fallback: 'I could not do it.',
      attempts: random.between(1, 3),
      stallMs: random.between(5, 60) * second,
      firstByteMs: null,
      system: null,
      output: null,
      context: null,
      afterTurn: null,
      contents: [],
      policy,
    },
  }
}

/** A killed gateway may hold each place of the account. */
function rollLimits(random: Random): Pick<Agent['model'], 'limits'> {
  if (random.chance(0.6)) return {}
  const [requestsAtOnce, requestsPerMinute] = [random.between(1, 3), random.pick([null, 60, 600])]
  return { limits: { ...noModelLimits, requestsAtOnce, requestsPerMinute } }
}

/** The tools that a guest offers to its model. */
export const guestTools: Declaration[] = ['read', 'send'].map((name) =>
  declarationWith({
    name,
    description: `${name} something`,
    schema: JSON.stringify({
      type: 'object',
      properties: { path: { type: 'string' } },
      required: ['path'],
    }),
    timeoutMs: 60 * second,
  }),
)

/** An agent that owns its model and its tools. Mostly it has the ceilings as its caps. */
export function rollGuest(random: Random): Guest {
  const { settings } = rollAgent(random, 'guest')
  const { version: _, ...policy } = settings.policy
  const caps = random.chance(0.3) ? policy.caps : defaultGuestSettings.policy.caps
  return {
    name: 'gus',
    settings: { ...settings, policy: policyOf({ ...policy, caps }) },
    hints: {},
    record: 'all',
  }
}

function rollTool(random: Random, name: (typeof toolNames)[number]): Tool {
  const withPath = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
  return {
    declaration: {
      name,
      description: `${name} something`,
      schema: JSON.stringify(name === 'status' ? { type: 'object', properties: {} } : withPath),
      idempotent: name !== 'send',
      timeoutMs: random.pick([1, 2, 5, 30]) * second,
      poll: name === 'status' && random.chance(0.5),
      hints: null,
    },
    run: { kind: 'command', argv: [name] },
  }
}
