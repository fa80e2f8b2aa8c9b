// Histories that fill the model's context: real stages on a real file, a server that refuses them.

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { anthropic, defineAgent, defineTool, type TurnEvent, Weir } from '../../client/weir.ts'
import { weirCommand } from '../support/programs.ts'
import { call, longText, says, systemOf, text, textsOf } from '../support/script.ts'

let folder: string
let server: AnthropicServer
let weir: Weir | undefined
let summary: () => Reply

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-history-'))
  summary = () => says(text('The user looks for a chair.'))
  server = await startAnthropicServer((request) => model(request))
})

afterEach(async () => {
  await weir?.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const full: Reply = { kind: 'error', status: 400, message: 'prompt is too long: 9 tokens > 8' }
const isSummary = (request: ModelCall) => systemOf(request) === 'You summarise.'

/** A context of 4,000 characters. A turn has three calls. */
function model(request: ModelCall): Reply {
  if (isSummary(request)) return summary()
  const messages = JSON.stringify(request.messages)
  if (messages.length > 4_000) return full
  const calls = server.requests.filter((one) => !isSummary(one)).length
  return calls % 4 === 0 || messages.includes('no tool')
    ? says(text(`Answer ${calls}.`))
    : says(call('look', { page: calls }))
}

const summariser = (name = 'summariser') =>
  defineAgent({
    name,
    system: 'You summarise.',
    model: anthropic('m', { baseUrl: server.url, apiKey: 'k' }),
  })

async function open(history?: Parameters<typeof defineAgent>[0]['history']) {
  const agent = defineAgent({
    name: 'helper',
    system: 'You help.',
    model: anthropic('m', { baseUrl: server.url, apiKey: 'k' }),
    tools: [
      defineTool({
        name: 'look',
        description: 'Looks',
        parameters: { type: 'object', properties: { page: { type: 'integer' } } },
        run: (args) => `page ${JSON.stringify(args)} ${longText(1_500)}`,
      }),
    ],
    ...(history && { history }),
  })
  const log = pino({ level: 'silent' })
  weir = await Weir.open({ agents: [agent], dataFolder: join(folder, 'data'), log })
  return { weir, agent }
}

async function run(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(weirCommand, [
    ...args,
    '--data-folder',
    join(folder, 'data'),
  ])
  return stdout
}

async function eventsOf(turn: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for await (const event of turn) events.push(event)
  return events
}

const helpers = () => server.requests.filter((request) => !isSummary(request))

describe('a history that fills the context', () => {
  it('ends the turn with the class context_full if the agent has no rule', async () => {
    const { weir, agent } = await open()
    expect(await weir.ask({ agent, text: 'Find a chair.' }).finished).toMatchObject({
      outcome: 'failed',
      class: 'context_full',
    })
  })

  it('loses its beginning, and the turn goes on with the message of the user', async () => {
    const { weir, agent } = await open({ keep: { rounds: 1 } })
    const turn = weir.ask({ agent, text: 'Find a chair.', conversation: 'c' })
    const events = await eventsOf(turn)
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
    const retries = events.flatMap((event) => (event.type === 'model-retry' ? [event] : []))
    expect(retries[0]).toMatchObject({
      waitMs: 0,
      reason: expect.stringMatching(/ of the history are left out, and the rest is sent$/),
    })
    expect(textsOf(helpers().at(-1)).slice(0, 2)).toEqual([
      expect.stringContaining('The beginning of this conversation is left out'),
      'Find a chair.',
    ])
    await weir.close()
    expect(await run('inspect', 'c')).toContain('left out without a summary')
    expect(JSON.parse(await run('inspect', 'c', '--json')).summary).toMatchObject({
      turn: 1,
      by: null,
      note: null,
    })
    await run('replay')
  }, 120_000)

  it('is summarised by another agent, also for the next turn and after a restart', async () => {
    const rule = { keep: { tokens: 500 }, summarise: summariser() }
    const first = await open(rule)
    const { finished } = first.weir.ask({
      agent: first.agent,
      text: 'Find a chair.',
      conversation: 'c',
    })
    expect(await finished).toMatchObject({ outcome: 'answered' })
    const task = textsOf(server.requests.find(isSummary))[0]
    expect(task).toContain('User: Find a chair.')
    expect(task).toContain('Result (ok): page')
    await first.weir.close()
    const next = await open(rule)
    const again = next.weir.ask({ agent: next.agent, text: 'Use no tool.', conversation: 'c' })
    expect(await again.finished).toMatchObject({ outcome: 'answered' })
    expect(textsOf(helpers().at(-1))[0]).toBe(
      '(The beginning of this conversation is left out. Its summary:)\nThe user looks for a chair.',
    )
    await next.weir.close()
    expect(await run('inspect', 'c')).toContain('summarised by summariser')
  }, 120_000)

  it('is left out with the reason if the summary fails', async () => {
    summary = () => ({ kind: 'error', status: 401, message: 'no key' })
    const { weir, agent } = await open({ keep: { rounds: 1 }, summarise: summariser() })
    const turn = weir.ask({ agent, text: 'Find a chair.', conversation: 'c' })
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
    await weir.close()
    expect(JSON.parse(await run('inspect', 'c', '--json')).summary).toMatchObject({
      by: null,
      note: expect.stringContaining("the agent 'summariser' gave no summary"),
    })
  }, 120_000)
})
