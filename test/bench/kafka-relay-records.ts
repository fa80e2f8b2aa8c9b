// The records of the relay's bench: rounds as the accumulator proposes them for the agent loop's conversation, one call each.

import { defaultPolicy } from '../../shared/agents.ts'
import type { Bus, RecordToAppend } from '../../shared/bus/port.ts'
import type { RoundProposed } from '../../shared/messages.ts'
import { formatId } from '../../shared/runtime/derived-id.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { tool } from './agent-loop-conversation.ts'

const declaration = { ...tool, schema: JSON.stringify(tool.schema), idempotent: false, timeoutMs: 10_000, poll: false }
const note = 'as the customer asked for it in the message'
const usage = { inputTokens: 400, outputTokens: 40, cacheReadTokens: 0, cacheWriteTokens: 0 }

/** The `n`th record of its partition. */
export function proposed({ topicPrefix, partition, n }: { topicPrefix: string; partition: number; n: number }): RecordToAppend {
  const call = {
    ordinal: 0,
    id: `toolu_${n}`,
    name: tool.name,
    raw: JSON.stringify({ hall: n % 4, article: 'A-40017', note }),
    source: 'deltas' as const,
    problem: null,
  }
  const attempt = n.toString(16).padStart(32, '0')
  const message: RoundProposed = {
    type: 'round-proposed',
    ...{ conversation: `conversation-${partition}-${n}`, turn: n, round: 1 },
    response: { attempt, text: '', reasoning: '', calls: [call], stop: 'calls', finish: 'tool_use', usage, textCalls: null },
    failure: null,
    offered: [tool.name],
    declarations: [declaration],
    ...{ agent: 'bench', policy: defaultPolicy, callsLeft: 100, expiresAt: Date.now() + 3_600_000 },
  }
  const id = formatId({ stage: 'accumulator', partition, offset: n, n: 0 })
  return { ...toRecord({ topic: `${topicPrefix}rounds-proposed`, partition, message }), id }
}

/** Fills the partitions evenly, with batches of 1,000 records: one of them is what a fetch brings (1 MiB of a partition). */
export async function fill(bus: Bus, options: { topicPrefix: string; partitions: number; records: number }): Promise<void> {
  const { topicPrefix, partitions, records } = options
  for (let from = 0; from * partitions < records; from += 1_000)
    await Promise.all(
      [...new Array(partitions).keys()].map((partition) =>
        bus.append(Array.from({ length: 1_000 }, (_, i) => proposed({ topicPrefix, partition, n: from + i }))),
      ),
    )
}
