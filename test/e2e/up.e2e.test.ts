// `weir up` as an operator runs it: stages, probes, and end. This is the embedded bus;
// test/e2e/up-kafka.e2e.test.ts has Kafka.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { loadAgents, Weir } from '../../client/weir.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import type { TopicName } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { until, userMessage } from '../support/inbox.ts'
import { call, longText, resultsOf, says, script, systemOf, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { metricOf, startUp } from '../support/weir-up.ts'

const partitions = 2
const conversation = 'c'
const partition = partitionOf(conversation, partitions)
const withAgent = { args: ['--agents', 'agent.yaml', '--partitions', `${partitions}`] }

let commands: CommandFolder | undefined

afterEach(async () => {
  await commands?.close()
  commands = undefined
})

/** Takes two minutes, and ignores SIGTERM. */
const endless = `  - { name: endless, description: d, schema: { type: object }, timeoutMs: 300000, command: [sh, -c, "trap '' TERM; sleep 60; sleep 60"] }\n`

/** A folder with an agent, and a log in which a message waits. */
async function folderWithMessage(
  model: (request: ModelCall, number: number) => Reply,
  graceMs = 2_000,
): Promise<CommandFolder> {
  const opened = await openCommandFolder(model)
  commands = opened
  const file = join(opened.folder, 'agent.yaml')
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replace('graceMs: 2000', `graceMs: ${graceMs}`) + endless,
  )
  const [agent] = loadAgents(file).values()
  if (agent === undefined) throw new Error('there is no agent')
  const bus = await openEmbeddedBus({ file: fileOf(opened), clock: systemClock })
  await bus.ensureTopics(topicSpecs('weir.', partitions))
  await bus.append([
    toRecord({
      topic: 'weir.conversation-events',
      partition,
      message: userMessage(agent, { conversation, text: 'go' }),
    }),
  ])
  await bus.close()
  return opened
}

const fileOf = ({ folder }: CommandFolder) => join(folder, '.weir', 'weir.db')

/** All messages of a topic, read next to the process that writes them or after its end. */
async function records(topic: TopicName): Promise<Message[]> {
  const bus = await openEmbeddedBus({
    file: fileOf(commands as CommandFolder),
    clock: systemClock,
    readOnly: true,
  })
  try {
    const found = await bus.read({ topic: `weir.${topic}`, partition, from: 0, limit: 10_000 })
    return found.map(({ value }) => decode(value as Uint8Array))
  } finally {
    await bus.close()
  }
}

async function ofType<T extends Message['type']>(
  topic: TopicName,
  type: T,
): Promise<Extract<Message, { type: T }>[]> {
  return (await records(topic)).filter(
    (message): message is Extract<Message, { type: T }> => message.type === type,
  )
}

describe('weir up', () => {
  it('runs waiting messages, reports readiness and work in its probes, and ends with 0', async () => {
    const up = startUp(
      await folderWithMessage(
        script(says(call('act', {}), call('exec', {})), says(text('All is well.'))),
      ),
      withAgent,
    )
    await up.untilReady()
    await until(async () => (await ofType('activity', 'turn-finished')).length === 1)
    expect((await ofType('activity', 'turn-finished'))[0]).toMatchObject({
      outcome: 'answered',
      reply: 'All is well.',
    })

    expect((await up.probe('/livez')).status).toBe(200)
    expect(JSON.parse((await up.probe('/readyz')).text)).toMatchObject({
      ready: true,
      stages: { executor: { joined: true, partitions: { '0': 'caught up', '1': 'caught up' } } },
    })
    await until(
      async () =>
        metricOf(
          await up.probe('/metrics'),
          'weir_lag_records{stage="conversation",partition="0"}',
        ) === 0,
    )
    const metrics = await up.probe('/metrics')
    const values = (...series: string[]) => series.map((one) => metricOf(metrics, one))
    expect(
      values(
        'weir_turns_total{outcome="answered",class="none",cap="none"}',
        'weir_attempts_total{outcome="answered"}',
      ),
    ).toEqual([1, 2])
    expect(
      values('weir_verdicts_total{verdict="accepted"}', 'weir_verdicts_total{verdict="schema"}'),
    ).toEqual([1, 1])
    expect(
      values('weir_results_total{status="ok"}', 'weir_results_total{status="denied"}'),
    ).toEqual([1, 1])
    expect(
      values('weir_tool_duration_seconds_count{status="ok"}', 'weir_open_units{stage="executor"}'),
    ).toEqual([1, 0])
    expect(values('weir_records_read_total{stage="validator",type="round-proposed"}')).toEqual([2])
    expect(metricOf(metrics, 'process_cpu_seconds_total')).toBeGreaterThan(0)

    up.signal('SIGTERM')
    expect(await up.ended).toMatchObject({ code: 0, out: '' })
    expect(up.lines[0]).toMatchObject({
      msg: 'starting',
      version: '0.2.0',
      bus: 'embedded',
      topicPrefix: 'weir.',
      partitions: 2,
    })
    expect(up.lines.at(-1)).toMatchObject({ msg: 'stopped' })
  })

  it('answers weir ask, and a second weir up takes its place when it is killed', async () => {
    const opened = await folderWithMessage(() => says(text('All is well.')))
    const first = startUp(opened, withAgent)
    await first.untilReady()
    const second = startUp(opened, withAgent)
    expect(await second.line(/^another process runs the stages/)).toMatchObject({
      reason: expect.stringMatching(/is open for writing in process \d+/),
    })
    expect((await second.probe('/readyz')).status).toBe(503)
    const ask = ['ask', '--agent', 'agent.yaml', '--partitions', `${partitions}`, 'go']
    expect(await opened.run(ask)).toMatchObject({ code: 0, out: 'All is well.\n' })
    first.signal('SIGKILL')
    await second.untilReady()
    expect(await opened.run(ask)).toMatchObject({ code: 0, out: 'All is well.\n' })
    second.signal('SIGTERM')
    expect((await second.ended).code).toBe(0)
  })

  it('runs the agents that tools of agent files name, for a client that has no key', async () => {
    const isOf = (name: string, request: ModelCall) => systemOf(request).startsWith(name)
    const opened = await openCommandFolder((request) => {
      if (isOf('digger', request)) return says(text('Dug.'))
      const isDone = resultsOf(request).includes('Dug.')
      return says(isDone ? text('All is well.') : call('ask_digger', { task: 'Dig.' }))
    })
    commands = opened
    const agents = join(opened.folder, 'agents')
    await mkdir(agents)
    const yaml = await readFile(join(opened.folder, 'agent.yaml'), 'utf8')
    const write = (name: string, tools: string) => {
      const own = yaml.replace('You are under test.', name).replace(/^tools:.*/ms, tools)
      return writeFile(join(agents, `${name}.yaml`), own)
    }
    await write('boss', 'tools: [{ name: ask_digger, description: asks, agent: digger }]')
    await write('digger', '')
    const up = startUp(opened, { args: ['--agents', 'agents', '--partitions', `${partitions}`] })
    await up.untilReady()
    await using weir = await Weir.open({
      agents,
      dataFolder: join(opened.folder, '.weir'),
      stages: 'elsewhere',
    })
    expect((await weir.ask({ agent: 'boss', text: 'Go' }).finished).reply).toBe('All is well.')
    const { conversations } = await weir.conversations({ where: { agent: 'digger' } })
    expect(conversations).toHaveLength(1)
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })

  it('answers weir ask --stages elsewhere, which has no key', async () => {
    const opened = await folderWithMessage(() => says(text('All is well.')))
    const yaml = await readFile(join(opened.folder, 'agent.yaml'), 'utf8')
    const asker = yaml.replace('baseUrl:', `apiKey: "$\{NO_SUCH_KEY}", baseUrl:`)
    expect(asker).not.toBe(yaml)
    await mkdir(join(opened.folder, 'asker'))
    await writeFile(join(opened.folder, 'asker', 'agent.yaml'), asker)
    const ask = (...more: string[]) =>
      opened.run([
        'ask',
        '--agent',
        'asker/agent.yaml',
        '--partitions',
        `${partitions}`,
        ...more,
        'go',
      ])
    const elsewhere = ['--stages', 'elsewhere']
    const up = startUp(opened, withAgent)
    await up.untilReady()
    expect(await ask()).toMatchObject({
      errors: expect.stringContaining('NO_SUCH_KEY'),
    })
    expect(await ask(...elsewhere)).toMatchObject({ code: 0, out: 'All is well.\n' })
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
    expect(await ask('--stages', 'somewhere')).toMatchObject({
      errors: expect.stringContaining('auto, here, elsewhere'),
    })
  })

  it('ends at SIGTERM while another process runs the stages', async () => {
    const opened = await folderWithMessage(script())
    const first = startUp(opened, withAgent)
    await first.untilReady()
    const second = startUp(opened, withAgent)
    await second.line(/^another process runs the stages/)
    second.signal('SIGTERM')
    expect((await second.ended).code).toBe(0)
    first.signal('SIGTERM')
    expect((await first.ended).code).toBe(0)
  })

  it('lets a running tool end at SIGTERM, keeps its result, asks no model, and the next process continues', async () => {
    const model = script(
      says(call('act', { until: 'probed', answer: 'done' })),
      says(text('All is well.')),
    )
    const opened = await folderWithMessage(model, 60_000)
    const up = startUp(opened, withAgent)
    await until(async () => (await ofType('activity', 'tool-started')).length === 1)
    up.signal('SIGTERM')
    await up.line(/^stopping/)
    const unready = await up.probe('/readyz')
    expect([unready.status, JSON.parse(unready.text)]).toEqual([
      503,
      expect.objectContaining({ phase: 'stopping' }),
    ])
    expect((await up.probe('/livez')).status).toBe(200)
    await writeFile(join(opened.folder, 'probed'), '')
    expect((await up.ended).code).toBe(0)
    expect(await ofType('rounds-cleared', 'outcome')).toMatchObject([
      { result: { status: 'ok', text: 'done' } },
    ])
    expect(opened.server.requests).toHaveLength(1)

    const next = startUp(opened, withAgent)
    await until(async () => (await ofType('activity', 'turn-finished')).length === 1)
    next.signal('SIGINT')
    expect((await next.ended).code).toBe(0)
    expect(resultsOf(opened.server.requests[1])).toEqual(['done'])
    expect((await readFile(join(opened.folder, 'starts'), 'utf8')).trim().split('\n')).toHaveLength(
      1,
    )
  })

  it('waits at SIGTERM only for its grace if a tool ignores signals, and reports the end of the call', async () => {
    const up = startUp(await folderWithMessage(script(says(call('endless', {})))), withAgent)
    await until(async () => (await ofType('activity', 'tool-started')).length === 1)
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
    expect(await ofType('rounds-cleared', 'outcome')).toMatchObject([
      { result: { status: 'unknown' } },
    ])
  })

  it('is killed by a second signal', async () => {
    const up = startUp(await folderWithMessage(script(says(call('endless', {})))), withAgent)
    await until(async () => (await ofType('activity', 'tool-started')).length === 1)
    up.signal('SIGTERM')
    await up.line(/^stopping/)
    up.signal('SIGINT')
    expect(await up.ended).toMatchObject({ code: null, signal: 'SIGINT' })
  })
})

describe('a weir up that fails', () => {
  it('ends with 1, the stage and the reason when the log cannot be written', async () => {
    const opened = await folderWithMessage(() =>
      says(text(longText(400_000)), call('act', { more: 'x'.repeat(400_000) })),
    )
    // Each of its files may have 4 MiB, and the log of records reaches that first.
    const up = startUp(opened, { ...withAgent, fileSizeMax: 4 * 1024 * 1024 })
    expect(await up.ended).toMatchObject({ code: 1 })
    expect(await up.line('a stage cannot go on')).toMatchObject({
      level: 60,
      stage: expect.any(String),
      err: { code: expect.stringMatching(/^bus\.(full|unwritable)$/) },
    })
    expect(up.lines.at(-1)).toMatchObject({ msg: 'ended after a failure', end: 'failed' })
  })

  it('ends with 1 if a commit is outside the log, because it would judge half a history', async () => {
    const opened = await folderWithMessage(script())
    const bus = await openEmbeddedBus({ file: fileOf(opened), clock: systemClock })
    const commit = { offset: 1_000, metadata: '{"from":900,"marks":{}}' }
    const reader = {
      position: 0,
      read: async () => ({ outputs: [], commit }),
      acknowledged: () => {},
      close: async () => {},
    }
    const subscription = await bus.subscribe({
      group: 'weir.conversation',
      topic: 'weir.conversation-events',
      assign: async () => reader,
    })
    await new Promise((resolve) => setImmediate(resolve))
    await subscription.close()
    await bus.close()
    const up = startUp(opened, withAgent)
    expect((await up.ended).code).toBe(1)
    expect((await up.line('the stages cannot be started')).err).toMatchObject({
      code: 'bus.commit-outside-log',
    })
  })
})

describe('a weir up with impossible arguments', () => {
  const refused = async (args: string[], environment?: Record<string, string>) => {
    commands ??= await openCommandFolder(script())
    const { code, errors } = await startUp(commands, { args, ...(environment && { environment }) })
      .ended
    return { code, errors }
  }

  it('ends with 2 and suggests the nearest stage', async () =>
    expect(await refused(['--stages', 'validatr'])).toEqual({
      code: 2,
      errors: "weir: unknown stage 'validatr' (--stages). Did you mean validator?\n",
    }))

  it('ends with 2 if a stage needs agent files and none are named', async () =>
    expect(await refused(['--stages', 'executor,validator'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('executor need'),
    }))

  it('ends with 2 and every mistake of the agent files', async () => {
    commands = await openCommandFolder(script())
    await writeFile(join(commands.folder, 'bad.yaml'), 'model: { provider: anthropic }\n')
    const { code, errors } = await refused(['--agents', 'bad.yaml'])
    expect(code).toBe(2)
    expect(errors).toContain('bad.yaml:1')
  })

  it('ends with 2 if its port is in use', async () => {
    commands = await openCommandFolder(script())
    const { port } = new URL(commands.server.url)
    const { code, errors } = await refused(['--stages', 'validator', '--health-port', port])
    expect({ code, errors }).toEqual({
      code: 2,
      errors: expect.stringContaining(`port ${port}: the port is in use`),
    })
  })

  it('needs no agent files and no key if its stages need none, and reports the missing stages', async () => {
    commands = await openCommandFolder(script())
    const up = startUp(commands, {
      args: ['--stages', 'validator,loop-detector', '--agents', 'there-is-none'],
    })
    await up.untilReady()
    expect(Object.keys(JSON.parse((await up.probe('/readyz')).text).stages)).toEqual([
      'validator',
      'loop-detector',
    ])
    expect(await up.line(/^on the embedded bus no other process/)).toMatchObject({
      missing: [
        'intake',
        'conversation',
        'guest',
        'llm-gateway',
        'accumulator',
        'executor',
        'approval',
      ],
    })
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })

  it('logs no secret', async () => {
    commands = await openCommandFolder(script())
    await writeFile(
      join(commands.folder, 'secret.yaml'),
      `system: s\nmodel: { provider: anthropic, name: m, apiKey: "\${MODEL_KEY}", maxOutputTokens: 10 }\nfallback: f\n`,
    )
    const environment = { MODEL_KEY: 'sk-very-secret', WEIR_LOG_LEVEL: 'trace' }
    const up = startUp(commands, { args: ['--agents', 'secret.yaml'], environment })
    await up.untilReady()
    const pages = await Promise.all(
      (['/readyz', '/livez', '/metrics'] as const).map((path) => up.probe(path)),
    )
    up.signal('SIGTERM')
    const { errors } = await up.ended
    expect(
      [errors, ...pages.map((page) => page.text)].filter((shown) =>
        shown.includes('sk-very-secret'),
      ),
    ).toEqual([])
  })
})
