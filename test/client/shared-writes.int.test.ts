// The writes of a process next to the owner: an acknowledgement that is lost, and guards of a process
// that does not own the folder.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type AnthropicServer, startAnthropicServer } from '../../apps/demo/anthropic-server.ts'
import { createContexts } from '../../client/agents/contexts.ts'
import { openEdge } from '../../client/edge/edge.ts'
import { createSharedFolder } from '../../client/place/shared-folder.ts'
import { type Agents, type Guard, Weir } from '../../client/weir.ts'
import { embeddedKind } from '../../shared/bus/embedded/kind.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { until } from '../support/inbox.ts'
import { recordedTool, testAgent } from '../support/pipeline.ts'
import { call, resultsOf, says, text } from '../support/script.ts'

const log = pino({ level: 'silent' })
let folder: string
let server: AnthropicServer
let agents: Agents

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-writes-'))
  server = await startAnthropicServer(({ messages }) =>
    messages.length === 1 ? says(call('act', {})) : says(text('Done.')),
  )
  const tools = (file: string) => [recordedTool({ name: 'act', schema: { type: 'object' } }, file)]
  const agent = testAgent(server.url, { tools }, join(folder, 'starts'))
  agents = new Map([[agent.name, agent]])
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const dataFolder = () => join(folder, 'data')
const open = (options: Partial<Parameters<typeof Weir.open>[0]> = {}) =>
  Weir.open({ agents, dataFolder: dataFolder(), log, ...options })

async function written(bus: Bus, topic: string, type: Message['type']): Promise<number> {
  const partition = partitionOf('c', 4)
  const records = await bus.read({ topic: `weir.${topic}`, partition, from: 0, limit: 1_000 })
  return records.filter(({ value }) => value !== null && decode(value).type === type).length
}

describe('a process next to the owner', () => {
  it('sends a message again if its acknowledgement is lost, and the turn runs once', async () => {
    await using _owner = await open({ partitions: 4 })
    let isLost = false
    const shared = createSharedFolder({
      kind: {
        ...embeddedKind,
        async link(settings) {
          const link = await embeddedKind.link(settings)
          return (
            link && {
              ...link,
              async request(request) {
                const answer = await link.request(request)
                if (isLost || (request as { type: string }).type !== 'append') return answer
                isLost = true
                link.close()
                throw new WeirError('bus.unreachable', 'it has ended', { retryable: true })
              },
            }
          )
        },
      },
      settings: readSettings({ dataFolder: dataFolder(), partitions: '4' }, {}),
      stages: 'elsewhere',
      runImported: false,
      agents,
      guards: [],
      log,
      runStages: async () => ({ failed: new Promise<never>(() => {}), close: async () => {} }),
      runBeside: async () => ({ close: async () => {} }),
    })
    await shared.join(createContexts(async () => undefined))
    const { bus } = shared
    const edge = openEdge({ bus, topicPrefix: 'weir.', partitions: 4 })
    const [agent] = agents.values()
    if (agent === undefined) throw new Error('there is no agent')
    const question = { agent, conversation: 'c', messageId: 'm', text: 'go' }
    const sending = {
      ...edge,
      send: () => shared.send(agent, question, () => edge.send(question)),
    }
    const finished = Promise.withResolvers<void>()
    await edge.onActivity('c', {
      onRecord: ({ message }) => message.type === 'turn-finished' && finished.resolve(),
      onFailure: finished.reject,
    })
    await sending.send()
    await finished.promise
    expect(await written(bus, 'client-messages', 'user-message')).toBe(2)
    expect(await written(bus, 'activity', 'turn-started')).toBe(1)
    expect(await written(bus, 'activity', 'tool-started')).toBe(1)
    edge.close()
    await shared.stop()
    await bus.close()
  })

  it('has its guards in force for the turns that the owner runs', async () => {
    const guard: Guard = {
      name: 'no-acts',
      version: '1',
      tools: ['act'],
      deadlineMs: 30_000,
      onTimeout: 'deny',
      judge: (state, { calls }) => ({
        state,
        verdicts: calls.map(({ ordinal }) => ({
          ordinal,
          verdict: 'deny',
          code: 'no-acts',
          text: 'No acts here.',
        })),
      }),
    }
    await using _owner = await open()
    await using beside = await open({ guards: { guards: [guard], mode: 'enforce' } })
    const [name = ''] = agents.keys()
    const { reply } = await beside.ask({ agent: name, text: 'go' }).finished
    expect(reply).toBe('Done.')
    expect(resultsOf(server.requests[1]).join()).toContain('No acts here.')
  })

  it('cancels a turn and approves a call through the owner', async () => {
    await using owner = await open({ approvals: { rules: [{ name: 'acts', tools: ['act'] }] } })
    await using beside = await open()
    const [agent = ''] = agents.keys()
    const waiting = async () => {
      await until(async () => (await beside.approvals()).length === 1)
      return (await beside.approvals())[0]?.id ?? ''
    }
    const first = owner.ask({ agent, text: 'go' })
    await beside.allow(await waiting())
    expect(await first.finished).toMatchObject({ reply: 'Done.' })
    const message = { conversation: 'c', messageId: 'm' }
    const second = owner.ask({ agent, text: 'go', ...message })
    await waiting()
    await beside.cancel(message)
    expect(await second.finished).toMatchObject({ outcome: 'cancelled' })
  })
})
