// People who decide about waiting calls: late, twice, against each other, about other arguments, or
// never. They are outside the simulated processes: they see the clients' view, and their decisions
// go to the inbox of the approval stage. An operator sets and removes the rules.

import { createHash } from 'node:crypto'
import { decode } from '../../../shared/codec/codec.ts'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import type {
  ApprovalAnswered,
  ApprovalPending,
  GuardInForce,
  Message,
  PendingCall,
} from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import type { Broker } from '../broker.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import { toolNames } from './agents.ts'
import { openRegistrations } from './registrations.ts'

export type ApproverOptions = {
  random: Random
  scheduler: Scheduler
  broker: Broker
  topicPrefix: string
  durationMs: Milliseconds
}

export function startApprovers({
  random,
  scheduler,
  broker,
  topicPrefix,
  durationMs,
}: ApproverOptions): void {
  const start = scheduler.now()
  const own = random.fork('decisions')
  const registrations = openRegistrations({ scheduler, broker, topicPrefix })
  setRules()
  if (random.chance(0.3)) scheduler.at(start + random.below(durationMs), setRules)
  if (random.chance(0.2))
    scheduler.at(start + random.below(durationMs), () => registrations.remove(approvalGuard))
  // The same record may land twice. People then get the request twice.
  broker.onLanded(({ topic, partition, value, time }) => {
    if (topic !== `${topicPrefix}activity` || value === null) return
    const message = decode(value)
    if (message.type === 'approval-pending')
      for (const call of message.calls) consider(call, message, partition, time)
  })

  function setRules(): void {
    const tools = [...new Set([random.pick(toolNames), random.pick(toolNames)])]
    const deadlineMs = random.weighted([
      [3, random.between(500, 20_000)],
      [1, random.between(60_000, 90_000)],
    ])
    const when = random.pick(['always', 'always', 'requested'] as const)
    const rules = [{ name: 'any call', tools, when }]
    const guard: GuardInForce = {
      name: approvalGuard,
      version: `${random.below(9)}`,
      tools: tools.map((pattern) => ({ pattern, mode: 'enforce' as const })),
      deadlineMs,
      onTimeout: 'deny',
      rules: JSON.stringify(rules),
    }
    registrations.register(guard)
  }

  function consider(
    call: PendingCall,
    { conversation, turn, round, until }: ApprovalPending,
    partition: number,
    time: Milliseconds,
  ): void {
    const times = own.weighted([
      [2, 0],
      [6, 1],
      [2, 2],
    ])
    for (let i = 0; i < times; i++) {
      const afterMs = own.chance(0.8)
        ? own.between(1, 2_000)
        : own.between(1, Math.max(2, Math.round(1.5 * (until - time))))
      const hash = own.chance(0.1)
        ? createHash('sha256').update('something else').digest('hex')
        : call.hash
      const answered: ApprovalAnswered = {
        type: 'approval-answered',
        conversation,
        turn,
        round,
        ordinal: call.ordinal,
        id: call.id,
        hash,
        answer: own.chance(0.6) ? 'allow' : 'deny',
        by: own.pick(['ann', 'bob']),
        reason: 'simulated',
        input: 0,
        values: null,
        identity: 'claimed',
      }
      scheduler.at(scheduler.now() + afterMs, () =>
        land(`${topicPrefix}approvals`, partition, answered),
      )
    }
  }

  function land(topic: string, partition: number, message: Message): void {
    broker.land([toRecord({ topic, partition, message })])
  }
}
