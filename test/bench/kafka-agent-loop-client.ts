// A client of stages in other processes on Kafka: it sends a message and waits for the end of the
// turn.

import { openEdge } from '../../client/edge/edge.ts'
import { loadAgents } from '../../client/weir.ts'

import type { Agent } from '../../shared/agents/agents.ts'
import { decode } from '../../shared/codec/codec.ts'
import { replyOf } from '../support/asked-turn.ts'
import { question } from './agent-loop-conversation.ts'
import { openBus, partitions } from './kafka-topics.ts'
import type { Loop } from './measured-loop.ts'

export type ClientOptions = { bootstrapServers: string; topicPrefix: string; agentFile: string }

export async function openClient({
  bootstrapServers,
  topicPrefix,
  agentFile,
}: ClientOptions): Promise<Loop & { unknownCalls(): Promise<number> }> {
  const agent = loadAgents(agentFile).get('bench') as Agent
  const bus = await openBus(bootstrapServers)
  const edge = openEdge({ bus, topicPrefix, partitions })

  return {
    async converse(conversation) {
      const { outcome, reason, reply } = await replyOf(edge, {
        agent,
        conversation,
        messageId: 'm',
        text: question,
      })
      if (outcome !== 'answered') throw new Error(`${conversation} ended ${outcome}: ${reason}`)
      return reply
    },

    async unknownCalls() {
      let unknown = 0
      for (const partition of new Array(partitions).keys()) {
        const topic = `${topicPrefix}history`
        for (const { value } of await bus.list({ topic, partition, prefix: '', upToNow: true })) {
          const entry = decode(value as Uint8Array)
          if (entry.type === 'history-entry')
            unknown += entry.results.filter(({ status }) => status === 'unknown').length
        }
      }
      return unknown
    },

    async close() {
      edge.close()
      await bus.close()
    },
  }
}
