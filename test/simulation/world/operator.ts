// An operator who changes the agents' policies during rounds: thresholds, caps, rules in shadow
// mode, and sometimes invalid keys or values. They also stop agents and tools, and release them,
// and sometimes set a budget.

import { policyKeys } from '../../../shared/agents/policy/entries.ts'
import type { PolicyEntry } from '../../../shared/contract/messages.ts'
import { everyAgent, keyOf, policyKeyPrefix } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import type { Broker } from '../broker.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import { agentNames } from './agents.ts'

export type OperatorOptions = {
  random: Random
  scheduler: Scheduler
  broker: Broker
  topicPrefix: string
  durationMs: Milliseconds
}

export function startOperator({
  random,
  scheduler,
  broker,
  topicPrefix,
  durationMs,
}: OperatorOptions): void {
  const start = scheduler.now()
  const topic = `${topicPrefix}policies`
  change()
  for (let i = random.between(2, 8); i > 0; i--)
    scheduler.at(start + random.below(durationMs), change)
  const stops = random.fork('stops')
  for (let i = stops.between(1, 3); i > 0; i--)
    scheduler.at(start + stops.below(durationMs), stopAndRelease)
  const budgets = random.fork('budgets')
  if (budgets.chance(0.5)) scheduler.at(start + budgets.below(durationMs / 2), setBudget)

  function setBudget(): void {
    const message = {
      type: 'operator-budget' as const,
      tenant: 'default',
      scope: 'tenant' as const,
      name: '',
      window: 'month' as const,
      unit: 'tokens' as const,
      soft: null,
      unpriced: 'allow' as const,
      hard: budgets.between(1, 20_000),
      setBy: 'operator',
      setAt: start,
    }
    broker.land([toRecord({ topic, partition: 0, message })])
    scheduler.at(scheduler.now() + budgets.between(20_000, durationMs), () =>
      broker.land([{ topic, partition: 0, key: keyOf(message), value: null }]),
    )
  }

  function stopAndRelease(): void {
    const scope = stops.pick(['all', 'agent', 'tool', 'tool'] as const)
    const name = { all: '', agent: stops.pick(agentNames), tool: stops.pick(['*', 'm*']) }[scope]
    const stop = { scope, name, mode: stops.pick(['drain', 'now'] as const), reason: 'a stop' }
    const message = { type: 'operator-stop' as const, ...stop, setBy: 'operator', setAt: start }
    broker.land([toRecord({ topic, partition: 0, message })])
    scheduler.at(scheduler.now() + stops.between(200, 20_000), () =>
      broker.land([{ topic, partition: 0, key: keyOf(message), value: null }]),
    )
  }

  function change(): void {
    const agent = random.pick([everyAgent, ...agentNames])
    if (random.chance(0.2)) {
      broker.land([{ topic, partition: 0, key: policyKeyPrefix + agent, value: null }])
      return
    }
    const entries = Array.from({ length: random.between(1, 6) }, entry)
    broker.land([
      toRecord({
        topic,
        partition: 0,
        message: { type: 'agent-policy', agent, entries, setBy: 'operator', setAt: start },
      }),
    ])
  }

  function entry(): PolicyEntry {
    const key = random.chance(0.05)
      ? 'loop.nothing'
      : random.pick(random.chance(0.6) ? often : policyKeys)
    if (random.chance(0.05)) return { key, value: random.pick(['', '-1', '1e3', 'nonsense']) }
    if (key.startsWith('rule.')) return { key, value: random.pick(['shadow', 'shadow', 'enforce']) }
    if (key === 'loop.schemaFailureEndsTurn') return { key, value: random.pick(['true', 'false']) }
    return { key, value: `${random.between(...(amounts.get(key) ?? [1, 6]))}` }
  }
}

/** In milliseconds and tokens, from which a turn has some rounds. */
const amounts = new Map<string, [number, number]>([
  ['caps.wallMs', [60_000, 600_000]],
  ['tree.wallMs', [60_000, 600_000]],
  ['tree.tokens', [1_000, 50_000]],
])

/** The rules that the simulated model triggers most often. */
const often = [
  'rule.identical-failure',
  'rule.identical-success',
  'rule.empty-response',
  'rule.schema-failure',
  'loop.identicalFailures',
]
