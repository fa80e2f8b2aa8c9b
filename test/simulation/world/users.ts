// Users: they send messages, some twice with the same id, some during an open turn, and they
// cancel. A foreign writer also puts invalid bytes into the inboxes.

import type { Agent, Agents } from '../../../shared/agents/agents.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { stages } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import type { Broker } from '../broker.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import type { Sender } from '../sender.ts'
import type { Ledger } from './ledger.ts'

export type UsersOptions = {
  ledger: Ledger
  random: Random
  scheduler: Scheduler
  sender: Sender
  broker: Broker
  agents: Agents
  topicPrefix: string
  partitions: number
  /** How long they go on. */
  durationMs: Milliseconds
  /** The probability that a message is cancelled. */
  impatience: number
}

export function startUsers({
  ledger,
  random,
  scheduler,
  sender,
  broker,
  agents,
  topicPrefix,
  partitions,
  durationMs,
  impatience,
}: UsersOptions): void {
  const start = scheduler.now()
  const [anybody] = [...agents.values()] as [Agent]
  const withoutFallback: Agent = { ...anybody, settings: { ...anybody.settings, fallback: ' ' } }
  const conversations = random.between(1, 4)
  for (let c = 0; c < conversations; c++) {
    const messages = random.between(1, 4)
    let time = start + random.below(durationMs / 2)
    for (let m = 0; m < messages; m++) {
      const conversation = `c${c}`
      const messageId = `c${c}m${m}`
      const refusable = random.chance(0.05)
      const agent = refusable ? withoutFallback : random.pick([...agents.values()])
      const sendAt = time
      scheduler.at(sendAt, () => sendMessage(conversation, messageId, agent))
      if (random.chance(0.2))
        scheduler.at(sendAt + random.between(1, 60_000), () =>
          sendMessage(conversation, messageId, agent),
        )
      if (random.chance(impatience))
        scheduler.at(sendAt + random.below(random.pick([1000, 5000, 30_000])), () =>
          cancel(conversation, messageId),
        )
      time = Math.min(
        start + durationMs,
        time + (random.chance(0.5) ? random.between(0, 2000) : random.between(2000, 60_000)),
      )
    }
  }
  for (let i = random.below(3); i > 0; i--) scheduler.at(start + random.below(durationMs), litter)

  /** A cancel can come before its message, at the same moment. */
  const cancelledFirst = new Set<string>()

  function sendMessage(conversation: string, messageId: string, agent: Agent): void {
    if (!ledger.sent.some((sent) => sent.messageId === messageId))
      ledger.sent.push({
        conversation,
        messageId,
        taken: true,
        refusable: agent === withoutFallback,
        blankReply: agent === withoutFallback,
        cancelled: cancelledFirst.has(messageId),
        answer: 'unobserved',
      })
    const declarations = agent.tools.map((tool) => tool.declaration)
    write({
      type: 'user-message',
      conversation,
      messageId,
      text: `do ${messageId}`,
      agent: agent.name,
      settings: agent.settings,
      declarations,
    })
  }

  function cancel(conversation: string, messageId: string): void {
    cancelledFirst.add(messageId)
    for (const sent of ledger.sent) if (sent.messageId === messageId) sent.cancelled = true
    write({ type: 'cancel-requested', conversation, messageId })
  }

  /** A client repeats a message without an acknowledgement: message ids exist for that. */
  function write(message: Extract<Message, { type: 'user-message' | 'cancel-requested' }>): void {
    const record = toRecord({
      topic: `${topicPrefix}client-messages`,
      partition: partitionOf(message.conversation, partitions),
      message,
    })
    sender.send([record]).catch(() => scheduler.at(scheduler.now() + 1000, () => write(message)))
  }

  function litter(): void {
    const topic = topicPrefix + random.pick(Object.values(stages)).inbox
    const partition = random.below(partitions)
    const written = random.pick<Litter>([
      { value: Buffer.from('not a record') },
      { value: Buffer.from([0, 0, 0, 0, 1, 255, 255]) },
      { value: Buffer.from([0, 0, 0, 99, 99, 1]) },
      { value: foreign },
      { value: forged, id: `conversation/${partition}/900000000000000/0` },
      { value: forged, id: `loop-detector/${partition}/900000000000000/0` },
    ])
    const [appended] = broker.land([
      { topic, partition, key: random.pick(['c0', 'somebody']), ...written },
    ])
    if (appended !== undefined) ledger.garbage.push({ topic, partition, offset: appended.offset })
  }
}

type Litter = { value: Uint8Array; id?: string }

/** A whole record under the id of a stage, with an input that does not exist. */
const forged = encode({
  type: 'turn-failed',
  conversation: 'c0',
  turn: null,
  stage: 'x',
  reason: 'forged',
})
/** A whole record that belongs in no inbox at all. */
const foreign = encode({
  type: 'operator-limits',
  caps: { rounds: 1, calls: 1, wallMs: 1, tokens: null },
})
