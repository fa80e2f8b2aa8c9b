// The agent loop through Weir: all stages and the client in this process, on an embedded bus in a
// file.

import { openEdge } from '../../client/edge/edge.ts'
import { startStages } from '../../services/stages.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { defaultSettings } from '../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { Synchronous } from '../../shared/bus/embedded/file/open-file.ts'
import { decode } from '../../shared/codec/codec.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { foldFrom } from '../../shared/runtime/log/position.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { replyOf } from '../support/asked-turn.ts'
import {
  type BenchProvider,
  maxOutputTokens,
  question,
  system,
  tool,
} from './agent-loop-conversation.ts'
import type { Loop } from './measured-loop.ts'

/** With the partitions that a new file gets. */
const { topicPrefix, partitions } = readSettings({}, {})

export async function openWeir({
  provider = 'anthropic',
  url,
  file,
  synchronous,
}: {
  provider?: BenchProvider | undefined
  url: string
  file: string
  synchronous: Synchronous
}): Promise<Loop> {
  const agent: Agent = {
    name: 'bench',
    system,
    model: { provider, name: 'bench', baseUrl: url, apiKey: 'none', maxOutputTokens },
    tools: [
      {
        declaration: {
          ...tool,
          schema: JSON.stringify(tool.schema),
          idempotent: false,
          timeoutMs: 10_000,
          poll: false,
          hints: null,
        },
        run: { kind: 'http', url: `${url}/tool`, headers: {} },
      },
    ],
    settings: defaultSettings,
  }
  const log = createLog({ level: 'error' })
  const bus = await openEmbeddedBus({
    file,
    clock: systemClock,
    synchronous,
    keepFrom: foldFrom,
    log,
  })
  const running = await startStages({
    bus,
    agents: new Map([[agent.name, agent]]),
    topicPrefix,
    partitions,
    log,
  })
  const edge = openEdge({ bus, topicPrefix, partitions })

  return {
    async converse(conversation) {
      const finished = replyOf(edge, { agent, conversation, messageId: 'm', text: question })
      const { outcome, reason, reply } = await Promise.race([finished, running.failed])
      if (outcome !== 'answered') throw new Error(`${conversation} ended ${outcome}: ${reason}`)
      return reply
    },

    async close() {
      edge.close()
      await running.close()
      await bus.close()
    },

    resume: { allAnswered, unknownCalls },
  }

  /** Of conversations that a killed process had begun: their messages are in the log already. */
  async function allAnswered(conversations: string[]): Promise<void> {
    const open = new Set(conversations)
    const found = new AbortController()
    const readers = [...new Array(partitions).keys()].map(async (partition) => {
      for await (const records of bus.follow({
        topic: `${topicPrefix}activity`,
        partition,
        from: 0,
        signal: found.signal,
      }))
        for (const { value } of records) {
          const activity = decode(value as Uint8Array)
          if (activity.type === 'turn-finished' && activity.outcome === 'answered')
            open.delete(activity.conversation)
          if (open.size === 0) found.abort()
        }
    })
    await Promise.race([Promise.all(readers), running.failed])
  }

  async function unknownCalls(): Promise<number> {
    let unknown = 0
    for (const partition of new Array(partitions).keys())
      for (const { value } of await bus.list({
        topic: `${topicPrefix}history`,
        partition,
        prefix: '',
      })) {
        const entry = decode(value as Uint8Array)
        if (entry.type === 'history-entry')
          unknown += entry.results.filter(({ status }) => status === 'unknown').length
      }
    return unknown
  }
}
