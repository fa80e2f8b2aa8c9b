// `weir serve` over a real broker: the stages run in another process, and a stream that one server
// began goes on at another.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { pino } from 'pino'
import { openBus } from '../../client/place/open-bus.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { call, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp } from '../support/weir-up.ts'

let bootstrapServer: string
let commands: CommandFolder
const topicPrefix = `serve-${randomUUID().slice(0, 8)}.`

beforeAll(async () => {
  bootstrapServer = (await sharedBroker()).bootstrapServers
}, brokerStartMs)

afterEach(() => commands.close())

const environment = () => ({
  WEIR_BUS: 'kafka',
  WEIR_BOOTSTRAP_SERVER: bootstrapServer,
  WEIR_TOPIC_PREFIX: topicPrefix,
  WEIR_DATA_FOLDER: `data-${randomUUID()}`,
})

async function serverUrl(): Promise<string> {
  const running = commands.start(
    ['serve', '--agents', 'agent.yaml', '--http-port', '0', '--keyless', '--json'],
    { environment: environment() },
  )
  const line: string[] = await Promise.race([
    once(createInterface({ input: running.child.stdout }), 'line'),
    running.ended.then(({ errors }) => {
      throw new Error(errors)
    }),
  ])
  return (JSON.parse(line[0] ?? '') as { url: string }).url
}

describe('weir serve over Kafka', () => {
  it('gives a response that another server began, with the same numbers', async () => {
    commands = await openCommandFolder(script(says(call('act', {})), says(text('Done.'))))
    const bus = await openBus(
      readSettings({ bus: 'kafka', bootstrapServer, dataFolder: commands.folder }, {}),
      pino({ level: 'silent' }),
    )
    await bus.ensureTopics(topicSpecs(topicPrefix, 2))
    await bus.close()
    const up = startUp(commands, {
      args: ['--agents', 'agent.yaml', '--health-port', '0'],
      environment: environment(),
    })
    await up.untilReady()
    const urls = await Promise.all([serverUrl(), serverUrl()])
    const [first, second] = urls.map((url) => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` }))
    const live: OpenAI.Responses.ResponseStreamEvent[] = []
    const stream = await first?.responses.create({ model: 'weir/agent', input: 'go', stream: true })
    for await (const event of stream ?? []) live.push(event)
    const id = live[0]?.type === 'response.created' ? live[0].response.id : ''
    const middle = live.findIndex(({ type }) => type === 'response.mcp_call.completed')
    const rest: typeof live = []
    const again = await second?.responses.retrieve(id, {
      stream: true,
      starting_after: live[middle]?.sequence_number ?? 0,
    })
    for await (const event of again ?? []) rest.push(event)
    const numbered = (events: typeof live) =>
      events
        .filter(({ type }) => type !== 'response.output_text.delta')
        .map(({ sequence_number: number, type }) => [number, type])
    expect(middle).toBeGreaterThan(0)
    expect(numbered(rest)).toEqual(numbered(live.slice(middle + 1)))
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })
})
