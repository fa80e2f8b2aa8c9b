// A client of stages in other processes on Kafka: it sends a message and waits for the end of the
// turn.

import { openEdge } from '../../client/edge.ts'
import { loadAgents } from '../../client/weir.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { question } from './agent-loop-conversation.ts'
import { openBus, partitions } from './kafka-topics.ts'
import type { Loop } from './measured-loop.ts'

export type ClientOptions = { bootstrapServers: string; topicPrefix: string; agentFile: string }

export async function openClient({
  bootstrapServers,
  topicPrefix,
  agentFile,
}: ClientOptions): Promise<Loop> {
  const agent = loadAgents(agentFile).get('bench') as Agent
  const bus = await openBus(bootstrapServers)
  const edge = openEdge({ bus, topicPrefix, partitions })

  return {
    async converse(conversation) {
      const { outcome, reason, reply } = await edge.reply({
        agent,
        conversation,
        messageId: 'm',
        text: question,
      })
      if (outcome !== 'answered') throw new Error(`${conversation} ended ${outcome}: ${reason}`)
      return reply
    },

    async close() {
      edge.close()
      await bus.close()
    },
  }
}
