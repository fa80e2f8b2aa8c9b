// The records of the relay's bench: rounds of the agent loop's conversation, one call each, as
// proposed by the accumulator and as cleared.

import { defaultPolicy, policyOf } from '../../shared/agents/policy/policy.ts'
import type { Bus, RecordToAppend } from '../../shared/contract/bus.ts'
import type { RoundCleared, RoundProposed } from '../../shared/contract/messages.ts'
import { formatId } from '../../shared/runtime/derived-id.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { callWith, responseWith } from '../support/messages.ts'
import { tool } from './agent-loop-conversation.ts'

const declaration = {
  ...tool,
  schema: JSON.stringify(tool.schema),
  idempotent: false,
  timeoutMs: 10_000,
  poll: false,
  hints: null,
}
const note = 'as the customer asked for it in the message'
const usage = { inputTokens: 400, outputTokens: 40, cacheReadTokens: 0, cacheWriteTokens: 0 }

export const guardName = 'passing'

const { version: _, ...content } = defaultPolicy
const guarded = policyOf({
  ...content,
  guards: [
    {
      name: guardName,
      version: '1',
      tools: [{ pattern: '*', mode: 'enforce' }],
      deadlineMs: 60_000,
      onTimeout: 'deny',
      rules: null,
    },
  ],
})

/** A maker of records, each the `n`th of its partition: all outputs of one input (withTopics). */
export type MakeRecord = (place: {
  topicPrefix: string
  partition: number
  n: number
}) => RecordToAppend

function callOf(n: number): RoundCleared['calls'][number] {
  const raw = JSON.stringify({ hall: n % 4, article: 'A-40017', note })
  return callWith({ id: `toolu_${n}`, name: tool.name, raw })
}

export const proposed: MakeRecord = ({ topicPrefix, partition, n }) => {
  const attempt = n.toString(16).padStart(32, '0')
  const message: RoundProposed = {
    type: 'round-proposed',
    conversation: `conversation-${partition}-${n}`,
    turn: n,
    round: 1,
    response: responseWith({ attempt, calls: [callOf(n)], finish: 'tool_use', usage }),
    failure: null,
    offered: [tool.name],
    declarations: [declaration],
    agent: 'bench',
    policy: defaultPolicy,
    callsLeft: 100,
    expiresAt: Date.now() + 3_600_000,
  }
  const id = formatId({ stage: 'accumulator', partition, offset: 0, n })
  return { ...toRecord({ topic: `${topicPrefix}rounds-proposed`, partition, message }), id }
}

/** The guard is in force in it. */
export const cleared: MakeRecord = ({ topicPrefix, partition, n }) => {
  const message: RoundCleared = {
    type: 'round-cleared',
    conversation: `conversation-${partition}-${n}`,
    turn: n,
    round: 1,
    calls: [callOf(n)],
    decided: [],
    declarations: [declaration],
    agent: 'bench',
    policy: guarded,
    expiresAt: Date.now() + 3_600_000,
    extendedTo: null,
  }
  const id = formatId({ stage: 'loop-detector', partition, offset: 0, n })
  return { ...toRecord({ topic: `${topicPrefix}rounds-cleared`, partition, message }), id }
}

/**
 * Fills the partitions evenly, with batches of 1,000 records. A fetch returns one of them (1 MiB of
 * a partition).
 */
export async function fill(
  bus: Bus,
  make: MakeRecord,
  {
    topicPrefix,
    partitions,
    records,
  }: { topicPrefix: string; partitions: number; records: number },
): Promise<void> {
  for (let from = 0; from * partitions < records; from += 1_000)
    await Promise.all(
      [...new Array(partitions).keys()].map((partition) =>
        bus.append(
          Array.from({ length: 1_000 }, (_, i) => make({ topicPrefix, partition, n: from + i })),
        ),
      ),
    )
}
