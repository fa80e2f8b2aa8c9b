// `weir up` on a real broker: the stages in two processes, a client in a third, and a process that
// leaves.

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import { openBus } from '../../client/place/open-bus.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { Weir } from '../../client/weir.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Claim, Message, Outcome } from '../../shared/contract/messages.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { stageNames, type TopicName } from '../../shared/contract/topology.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { metricOf, startUp, type WeirUp } from '../support/weir-up.ts'

const partitions = 3
const agentSide = 'llm-gateway,executor,accumulator'
const otherSide = 'intake,conversation,guest,validator,loop-detector'

let bootstrapServer: string
let commands: CommandFolder
let bus: Bus | undefined
let client: Weir | undefined
/** New for each test: the broker is shared. */
let topicPrefix: string

beforeAll(async () => {
  bootstrapServer = (await sharedBroker()).bootstrapServers
}, brokerStartMs)

afterEach(async () => {
  await client?.close()
  client = undefined
  await bus?.close()
  bus = undefined
  await commands.close()
})

async function open(
  model: (request: ModelCall, number: number) => Reply,
  { topics = true } = {},
): Promise<void> {
  commands = await openCommandFolder(model)
  topicPrefix = `up-${randomUUID().slice(0, 8)}.`
  bus = await openBus(
    readSettings({ bus: 'kafka', bootstrapServer, dataFolder: commands.folder }, {}),
    pino({ level: 'silent' }),
  )
  if (topics) await bus.ensureTopics(topicSpecs(topicPrefix, partitions))
}

/** Each has its own data folder, as on different machines, unless one is given. */
function up(stages: string, dataFolder = `data-${randomUUID()}`): WeirUp {
  const environment = { WEIR_DATA_FOLDER: dataFolder, ...onKafka() }
  return startUp(commands, { args: ['--stages', stages, '--agents', 'agent.yaml'], environment })
}

/** Running tools wait for this file. */
const mayEnd = 'every-tool-may-end'

function letToolsEnd(): void {
  writeFileSync(join(commands.folder, mayEnd), '')
}

const onKafka = () => ({
  WEIR_BUS: 'kafka',
  WEIR_BOOTSTRAP_SERVER: bootstrapServer,
  WEIR_TOPIC_PREFIX: topicPrefix,
})

function ask(userText: string) {
  return commands.run(['ask', '--agent', 'agent.yaml', userText], { environment: onKafka() })
}

async function records(topic: TopicName): Promise<Message[]> {
  const found: Message[] = []
  for (const { partition, end } of (await bus?.ends(topicPrefix + topic)) ?? [])
    for (const { value } of (await bus?.read({
      topic: topicPrefix + topic,
      partition,
      from: 0,
      to: end,
      limit: 1_000,
    })) ?? [])
      found.push(decode(value as Uint8Array))
  return found
}

const ofType = async (topic: TopicName, type: Message['type']) =>
  (await records(topic)).filter((message) => message.type === type)

describe('weir up on Kafka', () => {
  it('runs a turn through two processes with three stages each, and both report their work', async () => {
    await open(script(says(call('act', {}), call('exec', {})), says(text('All is well.'))))
    const both = [up(agentSide), up(otherSide)]
    await Promise.all(both.map((one) => one.untilReady()))
    expect(JSON.parse((await both[1]?.probe('/readyz'))?.text ?? '')).toMatchObject({
      stages: {
        validator: {
          joined: true,
          partitions: { '0': 'caught up', '1': 'caught up', '2': 'caught up' },
        },
      },
    })

    expect(await ask('How is it?')).toMatchObject({ code: 0, out: 'All is well.\n' })
    const [agents, others] = await Promise.all(both.map((one) => one.probe('/metrics')))
    const metric = (probe: typeof agents, series: string) => probe && metricOf(probe, series)
    expect(metric(agents, 'weir_attempts_total{outcome="answered"}')).toBe(2)
    expect(metric(agents, 'weir_tool_duration_seconds_count{status="ok"}')).toBe(1)
    expect(metric(agents, 'weir_partitions_assigned{stage="executor"}')).toBe(3)
    expect(metric(others, 'weir_verdicts_total{verdict="schema"}')).toBe(1)
    expect(metric(others, 'weir_turns_total{outcome="answered",class="none",cap="none"}')).toBe(1)
    expect(metric(others, 'weir_lag_records{stage="conversation",partition="0"}')).toBe(0)

    for (const one of both) one.signal('SIGTERM')
    expect((await Promise.all(both.map((one) => one.ended))).map(({ code }) => code)).toEqual([
      0, 0,
    ])
  })

  it('lets a running tool end at SIGTERM and leaves its group; the next process uses the result', async () => {
    await open(
      script(says(call('act', { until: mayEnd, answer: 'done' })), says(text('All is well.'))),
    )
    const others = up(otherSide)
    const first = up(agentSide)
    await Promise.all([others.untilReady(), first.untilReady()])
    const asking = ask('go')
    await until(async () => (await ofType('activity', 'tool-started')).length === 1)
    first.signal('SIGTERM')
    await first.line(/^stopping/)
    letToolsEnd()
    expect((await first.ended).code).toBe(0)
    expect(await ofType('rounds-cleared', 'outcome')).toMatchObject([
      { result: { status: 'ok', text: 'done' } },
    ])

    const next = up(agentSide)
    expect(await asking).toMatchObject({ code: 0, out: 'All is well.\n' })
    expect(resultsOf(commands.server.requests[1])).toEqual(['done'])
    expect(commands.server.requests).toHaveLength(2)
    expect((await ofType('activity', 'tool-started')).length).toBe(1)
    for (const one of [others, next]) one.signal('SIGTERM')
    expect((await Promise.all([others.ended, next.ended])).map(({ code }) => code)).toEqual([0, 0])
  })

  it('drains at SIGTERM with all tool slots busy: exits with 0, and no call is lost or starts twice', async () => {
    const turns = limits.runningToolsMax + limits.runningToolsMax / 2
    await open((request) =>
      resultsOf(request).length === 0
        ? says(call('act', { until: mayEnd, answer: 'done' }))
        : says(text('All is well.')),
    )
    const first = up(stageNames.join())
    await first.untilReady()
    client = await Weir.open({
      agents: join(commands.folder, 'agent.yaml'),
      log: pino({ level: 'silent' }),
      dataFolder: join(commands.folder, 'client'),
      topicPrefix,
      stages: 'elsewhere',
      bus: { kind: 'kafka', bootstrapServer },
    })
    const { ask: askOne } = client
    const finished = Array.from(
      { length: turns },
      (_, n) => askOne({ agent: 'agent', text: 'go', conversation: `drain-${n}` }).finished,
    )
    const busy = async () =>
      metricOf(await first.probe('/metrics'), 'weir_slots_busy{stage="executor"}')
    await until(async () => (await busy()) === limits.runningToolsMax)
    await until(async () => (await ofType('rounds-cleared', 'round-cleared')).length === turns)

    const file = join(commands.folder, 'starts')
    const startsOf = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])
    await until(async () => startsOf().length === limits.runningToolsMax)

    first.signal('SIGTERM')
    await first.line(/^stopping/)
    const next = up(stageNames.join())
    letToolsEnd()

    // 0 also states that everything closed within `shutdownMsMax`.
    expect((await first.ended).code).toBe(0)
    for (const turn of await Promise.all(finished))
      expect(turn).toMatchObject({ outcome: 'answered', reply: 'All is well.' })
    const keys = startsOf().map((line) => (JSON.parse(line) as { key: string }).key)
    expect([keys.length, new Set(keys).size]).toEqual([turns, turns])
    const outcomes = (await ofType('rounds-cleared', 'outcome')) as Outcome[]
    // A result of null releases a claim without a start.
    const results = outcomes.flatMap(({ result }) => result?.status ?? [])
    expect(results).toEqual(new Array(turns).fill('ok'))

    next.signal('SIGTERM')
    expect((await next.ended).code).toBe(0)
  })

  it('reports the real result of a tool whose executor was killed, if an executor returns on that machine', async () => {
    await open(
      script(says(call('act', { until: mayEnd, answer: 'done' })), says(text('All is well.'))),
    )
    const others = up(`${otherSide},llm-gateway,accumulator`)
    const first = up('executor', 'data-of-executors')
    await Promise.all([others.untilReady(), first.untilReady()])
    const asking = ask('go')
    await until(async () => (await ofType('activity', 'tool-started')).length === 1)
    first.signal('SIGKILL')
    await first.ended
    expect(await ofType('rounds-cleared', 'outcome')).toEqual([])
    letToolsEnd()

    const next = up('executor', 'data-of-executors')
    expect(await asking).toMatchObject({ code: 0, out: 'All is well.\n' })
    expect(resultsOf(commands.server.requests[1])).toEqual(['done'])
    const [claim] = (await ofType('rounds-cleared', 'claim')) as Claim[]
    expect(await ofType('rounds-cleared', 'outcome')).toMatchObject([
      { try: 1, owner: claim?.owner, result: { status: 'ok', text: 'done' } },
    ])
    for (const one of [others, next]) one.signal('SIGTERM')
    expect((await Promise.all([others.ended, next.ended])).map(({ code }) => code)).toEqual([0, 0])
  })

  it('is ready also as a member that gets no partition', async () => {
    await open(script())
    const all = Array.from({ length: partitions + 1 }, () => up('validator'))
    await Promise.all(all.map((one) => one.untilReady()))
    const assigned = async () => {
      const probes = await Promise.all(all.map((one) => one.probe('/metrics')))
      return probes
        .map((probe) => metricOf(probe, 'weir_partitions_assigned{stage="validator"}'))
        .toSorted()
    }
    await until(async () => `${await assigned()}` === '0,1,1,1')
    for (const one of all) expect((await one.probe('/readyz')).status).toBe(200)
    for (const one of all) one.signal('SIGTERM')
    expect((await Promise.all(all.map((one) => one.ended))).map(({ code }) => code)).toEqual([
      0, 0, 0, 0,
    ])
  })

  it('ends with 1 and the names of missing topics, and creates none', async () => {
    await open(script(), { topics: false })
    const up1 = up('validator')
    expect((await up1.ended).code).toBe(1)
    expect((await up1.line('the stages cannot be started')).err).toMatchObject({
      code: 'bus.topic-missing',
      message: expect.stringContaining(`${topicPrefix}conversation-events`),
    })
    await expect(bus?.ends(`${topicPrefix}conversation-events`)).rejects.toMatchObject({
      code: 'bus.topic-missing',
    })
  })

  it('ends with 1 and the difference if a topic has a wrong configuration', async () => {
    await open(script(), { topics: false })
    const specs = topicSpecs(topicPrefix, partitions)
    await bus?.ensureTopics(
      specs.map((spec) =>
        spec.name.endsWith('activity') ? { ...spec, partitions: partitions + 1 } : spec,
      ),
    )
    const up1 = up('validator')
    expect((await up1.ended).code).toBe(1)
    expect((await up1.line('the stages cannot be started')).err).toMatchObject({
      code: 'bus.topic-differs',
      message: expect.stringContaining(`${topicPrefix}activity`),
    })
  })
})
