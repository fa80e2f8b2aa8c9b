// The command line over a real Kafka broker. `weir up` runs the stages in its own process. `weir
// ask`, `chat`, `inspect`, `conversations`, `tail` and `doctor` use the same topics from other
// processes.

import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { RecordLine } from '../../apps/history/tail/record-line.ts'
import type { ConversationSummary } from '../../client/history/summary.ts'
import { Weir, type WeirOptions } from '../../client/weir.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import type { Timeline } from '../../shared/view/timeline.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { call, says, text, textsOf } from '../support/script.ts'
import { type CommandFolder, openCommandFolder, type RunningWeir } from '../support/weir-command.ts'

const log = pino({ level: 'silent' })
const partitions = 2

let commands: CommandFolder
let brokers: string
let place: string[]
let topicPrefix: string
let up: RunningWeir
/**
 * Begun first: it searches for ten seconds before it reports that there is no broker.
 */
let brokerless: RunningWeir

beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers
  commands = await openCommandFolder((request) => {
    const [first] = textsOf(request)
    return first === 'act' && request.messages.length === 1
      ? says(call('act', { answer: 'done' }))
      : says(text('Done.'))
  })
  brokerless = commands.start([
    'conversations',
    '--bus',
    'kafka',
    '--bootstrap-server',
    '127.0.0.1:1',
  ])
  topicPrefix = await newTopics()
  place = placeOf(topicPrefix)
  up = run(topicPrefix)
  await up.shows('the stages are started')
  for (const conversation of ['act', 'plain'])
    expect(await ask(conversation, '--conversation', conversation)).toMatchObject({
      code: 0,
      out: 'Done.\n',
    })
}, brokerStartMs + 60_000)

afterAll(async () => {
  up?.child.kill('SIGTERM')
  await up?.ended
  await commands?.close()
})

const placeOf = (prefix: string) => [
  '--bus',
  'kafka',
  '--bootstrap-server',
  brokers,
  '--topic-prefix',
  prefix,
]
const ask = (message: string, ...args: string[]) =>
  commands.run(['ask', '--agent', 'agent.yaml', ...place, message, ...args])

const run = (prefix: string, ...args: string[]) =>
  commands.start([
    'up',
    ...placeOf(prefix),
    '--agents',
    'agent.yaml',
    '--partitions',
    String(partitions),
    ...args,
  ])

async function newTopics(): Promise<string> {
  const prefix = `test-${randomBytes(6).toString('hex')}.`
  // It always uses Kafka, so it has no --bus.
  const { code, errors } = await commands.run([
    'topics',
    'create',
    ...placeOf(prefix).slice(2),
    '--partitions',
    String(partitions),
  ])
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return prefix
}

async function linesOf(...args: string[]): Promise<RecordLine[]> {
  const { code, out, errors } = await commands.run(['tail', ...place, ...args])
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as RecordLine)
}

const typesOf = (lines: RecordLine[]) => lines.map(({ type }) => type)

describe('weir ask and chat over Kafka', () => {
  it('get answers from stages in other processes, and show the progress', async () => {
    const { code, out, errors } = await ask('act', '--conversation', 'shown')
    expect({ code, out }).toEqual({ code: 0, out: 'Done.\n' })
    expect(errors).toMatch(/act started\n(.*\n)*.*act ok/)
  })

  it('need neither the keys nor the programs of the stages', async () => {
    const elsewhere = 'elsewhere.yaml'
    writeFileSync(
      join(commands.folder, elsewhere),
      `name: agent\nsystem: x\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1, apiKey: "\${NOT_SET}" }\ntools: []\n`,
    )
    expect(await commands.run(['ask', '--agent', elsewhere, ...place, 'hello'])).toMatchObject({
      code: 0,
      out: 'Done.\n',
    })
  })

  it('continue a conversation with a message for each piped line', async () => {
    const chat = await commands.run(
      ['chat', '--agent', 'agent.yaml', ...place, '--conversation', 'chat'],
      { input: 'one\ntwo\n' },
    )
    expect(chat).toMatchObject({ code: 0, out: 'Done.\nDone.\n' })
  })

  it('continue a fork, whose model sees the turns of its origin', async () => {
    const { server } = commands
    const forked = await commands.run(['fork', 'act', ...place, '--json'])
    expect(forked).toMatchObject({ code: 0, errors: '' })
    const { conversation } = JSON.parse(forked.out)
    expect(partitionOf(conversation, partitions)).toBe(partitionOf('act', partitions))
    expect(await ask('more', '--conversation', conversation)).toMatchObject({ code: 0 })
    expect(textsOf(server.requests.at(-1))).toEqual(['act', 'Done.', 'more'])
  })

  it('report that no stage runs, and continue once the stages run', async () => {
    const prefix = await newTopics()
    const waiting = commands.start(['ask', '--agent', 'agent.yaml', ...placeOf(prefix), 'hello'])
    await waiting.shows('no event for 5 s: no stage runs. Start them: weir up.')
    const started = run(prefix)
    expect(await waiting.ended).toMatchObject({ code: 0, out: 'Done.\n' })
    started.child.kill('SIGTERM')
    expect((await started.ended).code).toBe(0)
  })

  it('name the stage that nobody runs, and can be cancelled meanwhile', async () => {
    const prefix = await newTopics()
    const partly = run(
      prefix,
      '--stages',
      'intake,conversation,guest,accumulator,validator,loop-detector,executor,approval',
    )
    await partly.shows('the stages are started')
    const stuck = commands.start(['ask', '--agent', 'agent.yaml', ...placeOf(prefix), 'hello'])
    await stuck.shows('no process runs llm-gateway. Start it: weir up --stages llm-gateway.')
    stuck.child.kill('SIGINT')
    expect(await stuck.ended).toMatchObject({ code: null, signal: 'SIGINT' })
    partly.child.kill('SIGTERM')
    await partly.ended
  })

  it('name the remedy if there are no topics, and if there is no broker', async () => {
    const nowhere = await commands.run([
      'ask',
      '--agent',
      'agent.yaml',
      ...placeOf('nobody.'),
      'hello',
    ])
    expect(nowhere).toMatchObject({
      code: 1,
      out: '',
      errors: expect.stringMatching(/^weir: there is no topic nobody\..*weir topics create/),
    })
    const { code, errors } = await brokerless.ended
    expect(code).toBe(1)
    expect(errors).toMatch(/weir: no broker could be reached/)
  })
})

describe('weir inspect over Kafka', () => {
  it('shows the rounds of a conversation', async () => {
    const { code, out } = await commands.run(['inspect', ...place, 'act'])
    expect(code).toBe(0)
    expect(out).toMatch(/^Conversation act: idle, 1 turn\n/)
    const { out: json } = await commands.run(['inspect', ...place, 'act', '--json'])
    const timeline = JSON.parse(json) as Timeline
    expect(timeline.turns[0]).toMatchObject({
      text: 'act',
      end: { outcome: 'answered', reply: 'Done.' },
    })
    expect(timeline.turns[0]?.rounds[0]?.calls[0]).toMatchObject({
      name: 'act',
      tries: [{ try: 1, status: 'ok' }],
      result: { status: 'ok' },
    })
    expect(timeline).toMatchObject({ state: 'idle', troubles: [], unreadable: 0 })
  })

  it('lists the conversations if it does not know the given one', async () => {
    const { code, errors } = await commands.run(['inspect', ...place, 'plan'])
    expect({ code, errors }).toEqual({
      code: 1,
      errors: 'weir: there is no conversation plan; did you mean plain?\n',
    })
  })
})

describe('weir conversations over Kafka', () => {
  it('lists them with their turns, tokens and ends', async () => {
    await ask('again', '--conversation', 'act')
    const { code, out } = await commands.run(['conversations', ...place, '--json'])
    expect(code).toBe(0)
    const summaries = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ConversationSummary)
    expect(summaries[0]).toMatchObject({
      conversation: 'act',
      agent: 'agent',
      turns: 2,
      last: { outcome: 'answered' },
    })
    expect(summaries.find(({ conversation }) => conversation === 'plain')).toMatchObject({
      turns: 1,
      outputTokens: expect.any(Number),
    })
  })
})

describe('weir tail over Kafka', () => {
  it('shows the records of a topic, of all partitions and of one conversation', async () => {
    const lines = await linesOf('activity')
    expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).toSorted())
    expect(new Set(lines.map(({ topic }) => topic))).toEqual(new Set([`${topicPrefix}activity`]))
    const plain = await linesOf('activity', '--conversation', 'plain')
    expect(typesOf(plain)).toEqual([
      ...['turn-started', 'round-started', 'model-answered', 'turn-finished'],
    ])
    expect(plain.every(({ partition }) => partition === partitionOf('plain', partitions))).toBe(
      true,
    )
    expect(plain[0]?.id).toMatch(/^conversation\//)
    const [, second, ...rest] = plain
    const last = rest.at(-1)
    expect(
      await linesOf('activity', '--conversation', 'plain', '--since', last?.time ?? ''),
    ).toContainEqual(last)
    expect(
      await linesOf('activity', '--conversation', 'plain', '--from', String(second?.offset)),
    ).toEqual([second, ...rest])
    expect(
      typesOf(await linesOf('history', '--conversation', 'plain', '--from', 'beginning')),
    ).toEqual(['history-entry', 'history-entry'])
  })

  it('follows new records', async () => {
    const following = commands.start([
      'tail',
      ...place,
      'activity',
      '--follow',
      '--conversation',
      'followed',
      '--from',
      'beginning',
      '--limit',
      '4',
    ])
    await ask('followed', '--conversation', 'followed')
    const { code, out } = await following.ended
    expect(code).toBe(0)
    expect(out.match(/"type":"turn-finished"/g)).toHaveLength(2) // the line's and the message's
  })
})

describe('weir doctor over Kafka', () => {
  const examine = async (...args: string[]) => {
    const { code, out } = await commands.run([
      'doctor',
      ...args,
      '--partitions',
      String(partitions),
      '--agent',
      'agent.yaml',
    ])
    return {
      code,
      lines: out
        .split('\n')
        .filter((line) =>
          /^(ok|warning|wrong|skipped) +(client|brokers|topics|stages|records|clocks)/.test(line),
        ),
    }
  }

  it('checks brokers, topics, stages and records', async () => {
    expect(await examine(...place)).toEqual({
      code: 0,
      lines: [
        expect.stringMatching(/^ok +brokers +1 broker: /),
        expect.stringMatching(
          /^ok +topics +17 topics that begin with test-.*, all as Weir needs them$/,
        ),
        expect.stringMatching(
          /^ok +stages +running copies: intake 1, conversation 1, guest 1, llm-gateway 1, /,
        ),
        expect.stringMatching(/^ok +records +they can be read; the newest is of /),
        expect.stringMatching(
          /^ok +clocks +this machine's clock is \d\.\d s (behind|ahead of) the/,
        ),
      ],
    })
  })

  it('reports missing topics and stages', async () => {
    expect(await examine(...placeOf('nobody.'))).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(/^ok +brokers/),
        expect.stringMatching(
          /^wrong +topics +no topic begins with 'nobody\.': weir topics create/,
        ),
        expect.stringMatching(
          /^warning +stages +no process runs intake, conversation, guest, llm-gateway, .*: weir up --stages/,
        ),
        expect.stringMatching(/^wrong +records +there is no topic nobody\./),
        expect.stringMatching(/^skipped +clocks +not compared until the topics exist/),
      ],
    })
    expect(await examine(...place, '--command-property', 'client.di=x')).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(
          /^wrong +client .*client\.di: is not a property of a Kafka client; did you mean client\.id\?$/,
        ),
      ],
    })
  })
})

describe('a program over Kafka', () => {
  const openWeir = (options: Partial<WeirOptions>) =>
    Weir.open({
      agents: join(commands.folder, 'agent.yaml'),
      dataFolder: join(commands.folder, 'program'),
      topicPrefix,
      log,
      bus: { kind: 'kafka', bootstrapServer: brokers },
      ...options,
    })

  it('asks stages in other processes and gets the answer, also if it asks again', async () => {
    const weir = await openWeir({})
    const question = { agent: 'agent', text: 'act', conversation: 'program', messageId: 'm1' }
    const finished = await weir.ask(question).finished
    expect(finished).toMatchObject({ outcome: 'answered', reply: 'Done.' })
    expect(await weir.ask(question).finished).toEqual(finished)
    await weir.close()
  })

  it('gets an error if its number of partitions is not that of the topics', async () => {
    const wrong = openWeir({ partitions: partitions + 1 })
    await expect(wrong).rejects.toMatchObject({
      code: 'bus.topic-differs',
      message: expect.stringContaining('have 2 partitions'),
    })
  })

  it('runs the stages itself if that is its option', async () => {
    const weir = await openWeir({ stages: 'here', topicPrefix: await newTopics() })
    expect(await weir.ask({ agent: 'agent', text: 'act' }).finished).toMatchObject({
      outcome: 'answered',
      totals: { calls: 1 },
    })
    await weir.close()
  })
})
