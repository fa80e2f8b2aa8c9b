// Guests on a real broker: fronts in several processes, stages that run elsewhere, and kill -9 of
// both.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { ProxyAddress } from '../../apps/http/serve-proxy.ts'
import { openGuard } from '../../client/guard/guard.ts'
import { stagesOfGuests } from '../../client/guard/log/bus-front.ts'
import { openBus } from '../../client/place/open-bus.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import type { TopicName } from '../../shared/contract/topology.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { loopingModel } from '../apps/http/fronts/proxy/looping-model.ts'
import {
  type ScriptedUpstream,
  scriptedUpstream,
} from '../apps/http/fronts/proxy/scripted-upstream.ts'
import { answerOf, requestOf, saidCall } from '../support/guest-requests.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { script } from '../support/script.ts'
import { waitMaxMs } from '../support/wait-limit.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp, type WeirUp } from '../support/weir-up.ts'

const partitions = 3

let bootstrapServer: string
let commands: CommandFolder
let model: ScriptedUpstream
let bus: Bus
/** New for each test: the broker is shared. */
let topicPrefix: string

beforeAll(async () => {
  bootstrapServer = (await sharedBroker()).bootstrapServers
}, brokerStartMs)

beforeEach(async () => {
  commands = await openCommandFolder(script())
  model = await scriptedUpstream(loopingModel())
  topicPrefix = `guests-${randomUUID().slice(0, 8)}.`
  bus = await openBus(
    readSettings({ bus: 'kafka', bootstrapServer, dataFolder: join(commands.folder, 'own') }, {}),
    pino({ level: 'silent' }),
  )
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions))
})

afterEach(async () => {
  await bus.close()
  await commands.close()
  await model.close()
})

const environment = () => ({
  WEIR_DATA_FOLDER: `data-${randomUUID()}`,
  WEIR_BUS: 'kafka',
  WEIR_BOOTSTRAP_SERVER: bootstrapServer,
  WEIR_TOPIC_PREFIX: topicPrefix,
})

/** These stages in a new process. `args`: further ones. */
function up(stages: readonly string[], ...args: string[]): WeirUp {
  return startUp(commands, {
    args: ['--stages', stages.join(), '--agents', 'agent.yaml', ...args],
    environment: environment(),
  })
}

/** `weir proxy`, with the address of its server. */
async function proxy() {
  const running = commands.start(
    ['proxy', '--port', '0', '--json', '--upstream', `${model.url}/v1`],
    { environment: environment() },
  )
  const line: string[] = await Promise.race([
    once(createInterface({ input: running.child.stdout }), 'line'),
    running.ended.then(({ errors }) => {
      throw new Error(errors)
    }),
  ])
  return { ...running, url: (JSON.parse(line[0] ?? '') as ProxyAddress).openaiBaseUrl }
}

type ChatMessage = { role: string; content: string | null; tool_calls?: { id: string }[] }

/** A turn of an agent that sends its nth request to `urlOf(n)`. Resolves to its answers. */
async function agentTurn(urlOf: (n: number) => Promise<string>): Promise<(string | null)[]> {
  const messages: unknown[] = [{ role: 'user', content: 'List the files.' }]
  const replies: (string | null)[] = []
  for (let n = 1; n <= 25; n += 1) {
    const response = await fetch(`${await urlOf(n)}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-weir-conversation': 'one' },
      body: JSON.stringify({ model: 'm', messages, tools }),
    })
    const { choices } = (await response.json()) as { choices: { message: ChatMessage }[] }
    const message = choices[0]?.message as ChatMessage
    replies.push(message.content)
    if (message.tool_calls === undefined) return replies
    messages.push(message)
    for (const { id } of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: id, content: 'Error: exec needs cmd' })
  }
  return replies
}

const parameters = { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] }
const tools = [{ type: 'function', function: { name: 'exec', parameters } }]

/** Incident I1 ends with the fifth answer. */
const stopped = [null, null, null, null, 'I stop here.']

async function records(topic: TopicName): Promise<Message[]> {
  const found: Message[] = []
  for (const { partition, end } of await bus.ends(topicPrefix + topic))
    for (const { value } of await bus.read({
      topic: topicPrefix + topic,
      partition,
      from: 0,
      to: end,
      limit: 1_000,
    }))
      found.push(decode(value as Uint8Array))
  return found
}

async function stop(all: readonly WeirUp[]): Promise<void> {
  for (const one of all) one.signal('SIGTERM')
  expect((await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code)).toEqual(
    all.map(() => 0),
  )
}

describe('guests on Kafka', () => {
  it('are stopped in one conversation that alternates between the fronts of two processes', async () => {
    const stages = up(stagesOfGuests, '--front-port', '0', '--upstream', `${model.url}/v1`)
    const { fronts } = await stages.line('the fronts are started')
    await stages.untilReady()
    const other = await proxy()
    const urls = [`${fronts}/v1`, other.url]
    expect(await agentTurn(async (n) => urls[n % 2] as string)).toEqual(stopped)
    // A front writes a round when its answer has passed.
    await until(async () => (await records('rounds-proposed')).length >= 5)
    other.child.kill('SIGTERM')
    expect(await other.ended).toMatchObject({ code: 0, errors: '' })
    await stop([stages])
    expect(await records('rounds-proposed')).toHaveLength(5)
  })

  it('are stopped although kill -9 ends their front in the middle of the turn', async () => {
    const stages = up(stagesOfGuests)
    await stages.untilReady()
    let front = await proxy()
    const replies = await agentTurn(async (n) => {
      if (n === 3) {
        front.child.kill('SIGKILL')
        await front.ended
        front = await proxy()
      }
      return front.url
    })
    expect(replies).toEqual(stopped)
    front.child.kill('SIGTERM')
    await front.ended
    await stop([stages])
  })

  it.each(stagesOfGuests.filter((stage) => stage !== 'approval'))(
    'get the verdict on a call also if kill -9 ends the %s meanwhile',
    async (stage) => {
      const others = up(stagesOfGuests.filter((one) => one !== stage))
      const killed = up([stage])
      await Promise.all([others, killed].map((one) => one.untilReady()))
      const guard = await openGuard({
        agent: 'coder',
        kafka: { bootstrapServer, topicPrefix },
        answerWithinMs: waitMaxMs,
      })
      try {
        // A stopped process keeps its partitions, so nothing can answer before its end.
        killed.signal('SIGSTOP')
        const request = requestOf('anthropic', [{ user: 'Go.', responses: [] }])
        const said = saidCall('exec', { command: 'ls' }, { id: 'c' })
        const verdicts = guard.conversation('t').afterModel(answerOf(request, said))
        await until(async () => (await records('guest-events')).length === 1)
        killed.signal('SIGKILL')
        await killed.ended
        const next = up([stage])
        expect(await verdicts).toMatchObject([{ callId: 'c', verdict: 'allow' }])
        await stop([others, next])
      } finally {
        await guard.close()
      }
    },
  )

  it('open no front while the topics are missing, with the command that creates them', async () => {
    topicPrefix = `none-${randomUUID().slice(0, 8)}.`
    const { code, errors } = await commands.run(['proxy', '--port', '0', '--upstream', model.url], {
      environment: environment(),
    })
    expect([code, errors]).toEqual([1, expect.stringContaining('weir topics create')])
  })
})
