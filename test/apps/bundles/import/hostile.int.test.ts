// Bundles of an attacker: a message that was never answered must not run. The bundle's tables may
// claim anything about it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { importBundle } from '../../../../apps/bundles/import/import.ts'
import { Weir } from '../../../../client/weir.ts'
import type { BundleTurn } from '../../../../shared/bus/bundle/format.ts'
import { createBundle } from '../../../../shared/bus/bundle/writer.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'
import { type TopicName, topics } from '../../../../shared/contract/topology.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { userMessage } from '../../../support/messages.ts'
import { output } from '../../../support/output.ts'
import { execTool, withPipeline } from '../../../support/pipeline.ts'
import { call, says, text, textsOf } from '../../../support/script.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-hostile-'))
  file = join(folder, 'evil.weir')
})
afterEach(() => rmSync(folder, { recursive: true }))

const partitions = 2
const home = partitionOf('c', partitions)

/** `time`: before now. */
type Written = {
  topic?: TopicName
  message: Message
  offset?: number
  partition?: number
  ago?: number
}

async function make(written: Written[], turns: Partial<BundleTurn>[] = []): Promise<void> {
  const bundle = createBundle(file, { force: true })
  for (const [name, { kind }] of Object.entries(topics)) bundle.topic(name, kind)
  for (const [
    at,
    { topic = 'conversation-events', message, offset = at, partition = home, ago = 60_000 },
  ] of written.entries())
    bundle.add({
      topic,
      partition,
      offset,
      key: 'c',
      value: encode(message),
      time: systemClock.now() - ago,
    })
  for (const turn of turns) bundle.turn({ ...answered, ...turn })
  await bundle.finish({
    madeAt: '2026-01-01T00:00:00.000Z',
    source: 'embedded',
    topicPrefix: 'weir.',
    partitions,
    asked: '{}',
    redaction: null,
  })
}

const answered: BundleTurn = {
  conversation: 'c',
  turn: 0,
  partition: home,
  agent: 'test-agent',
  messageId: 'm1',
  beganAt: 1,
  endedAt: 2,
  outcome: 'answered',
  failureClass: null,
  cap: null,
  reason: null,
  rounds: 1,
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  whole: true,
}

const attack = (messageId: string, conversation = 'c') =>
  userMessage({
    conversation,
    messageId,
    text: 'attack',
    agent: 'test-agent',
    declarations: execTool('').map(({ declaration }) => declaration),
  })

const settingsIn = (dataFolder: string) => readSettings({ dataFolder, partitions: '2' }, {})
const imported = () => join(folder, 'imported')

async function importing(): Promise<string> {
  const { stream, text: told } = output()
  expect(await importBundle(file, settingsIn(imported()), stream)).toBe(0)
  return told()
}

const day = 24 * 60 * 60 * 1000
const carried = (): Message => {
  const { messageId, text, agent, settings } = attack('m1')
  const queued = { messageId, text, agent, settings, tools: [], toolTimeoutMsMax: 1_000 }
  return {
    type: 'carried',
    conversation: 'c',
    from: 0,
    state: { queue: [queued], recentMessageIds: ['m1'] },
  } as Message
}

const bundles: [name: string, written: () => Written[], turns: Partial<BundleTurn>[]][] = [
  ['a message that the table calls answered', () => [{ message: attack('m1') }], [{}]],
  ['a message that the table does not list', () => [{ message: attack('m1') }], []],
  ['a message that the table calls open', () => [{ message: attack('m1') }], [{ outcome: 'open' }]],
  [
    'a message behind an open turn',
    () => [{ message: attack('m1') }, { message: attack('m2') }, { message: attack('m3') }],
    [{}],
  ],
  [
    'an old message whose turn has expired, and a waiting one',
    () => [
      { message: attack('m1'), ago: day },
      { message: attack('m2'), ago: 1_000 },
    ],
    [{}],
  ],
  ['a queue that an earlier turn hands over', () => [{ message: carried() }], [{}]],
  [
    'a message that is sent twice',
    () => [{ message: attack('m1') }, { message: attack('m1') }],
    [{}],
  ],
  [
    "a message with an end that only the clients' topic has",
    () => [
      { message: attack('m1') },
      {
        topic: 'activity',
        message: {
          type: 'turn-finished',
          conversation: 'c',
          turn: 0,
          messageId: 'm1',
          outcome: 'answered',
          reply: 'done',
          class: null,
          cap: null,
          reason: '',
          totals: { rounds: 1, calls: 0, inputTokens: 0, outputTokens: 0, wallMs: 1 },
        } as unknown as Message,
      },
    ],
    [{}],
  ],
]

describe('weir import of a hostile bundle', () => {
  it.each(bundles)('runs nothing of %s', async (_, written, turns) => {
    await make(written(), turns)
    await importing()
    await withPipeline(
      {
        model: ({ messages }) =>
          JSON.stringify(messages).includes('attack')
            ? says(call('exec', { command: 'id' }))
            : says(text('fine')),
        openBus: () => openEmbeddedBus({ file: join(imported(), 'weir.db'), clock: systemClock }),
      },
      async ({ ask, server, starts }) => {
        await ask('hello', { conversation: 'c' })
        await ask('hello', { conversation: 'd' })
        await ask('hello', { conversation: 'e' })
        expect(server.requests.flatMap(textsOf)).not.toContain('attack')
        expect(server.requests).toHaveLength(3)
        expect(await starts()).toEqual([])
      },
    )
  })

  it('leaves messages without an end out, reports them, and gives their offsets to nobody', async () => {
    await make([{ message: attack('m1') }, { message: attack('m2') }], [{}])
    expect(await importing()).toContain('left out: 2 messages without an end')
    expect(readFileSync(join(imported(), 'weir.db')).includes('attack')).toBe(false)
    const bus = await openEmbeddedBus({ file: join(imported(), 'weir.db'), clock: systemClock })
    expect(await bus.ends('weir.conversation-events')).toContainEqual(
      expect.objectContaining({ partition: home, end: 2 }),
    )
    expect(bus.isImported).toBe(true)
    await bus.close()
  })

  it('refuses a record of the future, because no later record could be older', async () => {
    await make([{ message: attack('m1'), ago: -2 * day }])
    await expect(importBundle(file, settingsIn(imported()), output().stream)).rejects.toMatchObject(
      { code: 'bundle.invalid', message: expect.stringContaining('clock') },
    )
  })
})

describe('a log that was imported', () => {
  const open = (runImported?: boolean) =>
    Weir.open({
      agents: new Map(),
      dataFolder: imported(),
      partitions,
      ...(runImported !== undefined && { runImported }),
    })

  it('runs no stage unless the program allows it, also after it ran once', async () => {
    await make([])
    await importing()
    await expect(open()).rejects.toMatchObject({
      code: 'bus.imported',
      message: expect.stringContaining('--run-imported'),
    })
    await (await open(true)).close()
    await expect(open(false)).rejects.toMatchObject({ code: 'bus.imported' })
  })

  it('is marked, and a new log is not', async () => {
    await (await open()).close()
    await (await open()).close()
  })
})
