// External guards: they answer late, twice, for the wrong calls, with invalid bytes, or never. An
// operator registers, switches and removes them while rounds wait. They are outside the simulated
// processes, and their records go straight to their topics.

import { decode, encode } from '../../../shared/codec/codec.ts'
import type {
  CallVerdict,
  GuardInForce,
  GuardVerdict,
  RoundCleared,
} from '../../../shared/contract/messages.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import { verdictWith } from '../../support/messages.ts'
import type { Broker } from '../broker.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import { toolNames } from './agents.ts'
import { openRegistrations } from './registrations.ts'

export const guardNames = ['shell', 'spend'] as const

const outside: ReadonlySet<string> = new Set(guardNames)

export type GuardsOptions = {
  random: Random
  scheduler: Scheduler
  broker: Broker
  topicPrefix: string
  durationMs: Milliseconds
}

export function startGuards({
  random,
  scheduler,
  broker,
  topicPrefix,
  durationMs,
}: GuardsOptions): void {
  const start = scheduler.now()
  const own = random.fork('answers')
  const registrations = openRegistrations({ scheduler, broker, topicPrefix })
  for (const name of guardNames.slice(0, random.between(1, guardNames.length))) {
    register(name)
    for (let i = random.below(3); i > 0; i--)
      scheduler.at(start + random.below(durationMs), () => register(name))
    if (random.chance(0.3))
      scheduler.at(start + random.below(durationMs), () => registrations.remove(name))
  }
  // The same record may land twice, and a guard also reads at least once.
  broker.onLanded(({ topic, partition, value, time }) => {
    if (topic !== `${topicPrefix}rounds-cleared` || value === null) return
    const message = decoded(value)
    if (message?.type === 'round-cleared')
      for (const guard of message.policy.guards.filter(({ name }) => outside.has(name)))
        onCleared(guard, message, partition, time)
  })

  function register(name: string): void {
    const pattern = () => random.pick(['*', 's*', ...toolNames])
    const tools = Array.from({ length: random.between(1, 2) }, () => ({
      pattern: pattern(),
      mode: random.pick(['enforce', 'enforce', 'shadow'] as const),
    }))
    const deadlineMs = random.weighted([
      [6, random.between(50, 5_000)],
      [2, random.between(5_000, 30_000)],
      [1, random.between(60_000, 90_000)],
    ])
    const guard: GuardInForce = {
      name,
      version: `${random.below(9)}`,
      tools,
      deadlineMs,
      onTimeout: random.pick(['deny', 'deny', 'allow'] as const),
      rules: null,
    }
    registrations.register(guard)
  }

  function onCleared(
    guard: GuardInForce,
    cleared: RoundCleared,
    partition: number,
    clearedAt: Milliseconds,
  ): void {
    const answers = own.weighted([
      [1, 0],
      [12, 1],
      [2, 2],
    ])
    for (let i = 0; i < answers; i++) {
      const afterMs = own.chance(0.85)
        ? own.between(1, 400)
        : own.between(400, 2 * guard.deadlineMs)
      const value = own.chance(0.03)
        ? Buffer.from('rubbish')
        : encode(answerTo(guard, cleared, clearedAt))
      const topic = topicPrefix + guardTopicName(guard.name)
      scheduler.at(scheduler.now() + afterMs, () =>
        broker.land([{ topic, partition, key: cleared.conversation, value }]),
      )
    }
  }

  function answerTo(
    guard: GuardInForce,
    { conversation, turn, round, calls }: RoundCleared,
    clearedAt: Milliseconds,
  ): GuardVerdict {
    const verdicts = calls.flatMap(({ ordinal, name }): CallVerdict[] => {
      const isWanted = modeFor(guard, name) !== undefined ? !own.chance(0.02) : own.chance(0.1)
      if (!isWanted) return []
      const verdict = own.weighted([
        [6, 'allow' as const],
        [3, 'deny' as const],
        [1, 'ask' as const],
      ])
      return verdict === 'allow'
        ? [verdictWith({ ordinal, verdict })]
        : [{ ordinal, verdict, code: 'simulated', text: 'It is not allowed.', evidence: null }]
    })
    const intervention = own.chance(0.05)
      ? { guard: '', reason: 'simulated', text: 'Do something else.' }
      : null
    const from = {
      guard: guard.name,
      version: guard.version,
      clearedAt,
      judgedMs: 1,
      enforces: [],
      deadlineMs: guard.deadlineMs,
    }
    return {
      type: 'guard-verdict',
      conversation,
      turn: own.chance(0.02) ? turn + 1 : turn,
      round,
      verdicts,
      intervention,
      ...from,
    }
  }
}

function decoded(value: Uint8Array) {
  try {
    return decode(value)
  } catch {
    return undefined // invalid bytes
  }
}
