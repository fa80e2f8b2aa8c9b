// `weir reset` on a real broker: a stage with a commit outside its log reads its other partitions,
// and goes on after the repair.

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type ResetOptions, reset } from '../../../../apps/service/reset/reset.ts'
import { stageProgress } from '../../../../apps/service/stage-progress.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { Bus, Subscription } from '../../../../shared/contract/bus.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { positionAt } from '../../../../shared/runtime/log/position.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { kafkaWorld } from '../../../shared/bus/kafka/kafka-world.ts'
import { subscribeRecording, until } from '../../../shared/bus/recording-readers.ts'
import { cancel } from '../../../support/messages.ts'
import { output } from '../../../support/output.ts'

const world = kafkaWorld()
const folder = mkdtempSync(join(tmpdir(), 'weir-reset-'))
let bus: Bus
let prefix: string
let settings: Settings

beforeAll(() => {
  prefix = `reset-${randomUUID().slice(0, 8)}.`
})
afterAll(() => rmSync(folder, { recursive: true }))

async function open(): Promise<void> {
  settings = readSettings(
    {
      bus: 'kafka',
      bootstrapServer: world.brokers.join(','),
      topicPrefix: prefix,
      dataFolder: folder,
    },
    {},
  )
  bus = await world.open()
  await bus.ensureTopics(topicSpecs(prefix, 2))
}

async function run(options: ResetOptions): Promise<{ code: number; text: string }> {
  const { stream, text } = output()
  return { code: await reset(options, settings, stream), text: text() }
}

const inbox = () => `${prefix}rounds-checked`
const group = () => `${prefix}loop-detector`

/** A derived record of the conversation stage. */
function derived(partition: number, offset: number) {
  const value = encode(cancel())
  return { topic: inbox(), partition, key: 'c', value, id: `conversation/${partition}/${offset}/0` }
}

/** Commits `{ offset, from }` for a partition, as a stage that stopped there. */
async function commitAt(partition: number, offset: number, from: number): Promise<void> {
  const metadata = JSON.stringify({ from, marks: { [`conversation/${partition}`]: [0, 0] } })
  const reader = await subscribeRecording(bus, {
    group: group(),
    topic: inbox(),
    position: ({ ends }) => ends.begin,
    step: (_, { ends }) => ({
      outputs: [],
      commit: ends.partition === partition ? { offset, metadata } : undefined,
    }),
  })
  await until('it is read', () =>
    [...reader.partitions.values()].some(
      ({ assignment, happenings }) =>
        assignment.ends.partition === partition && happenings.at(-1)?.what === 'acknowledged',
    ),
  )
  await reader.subscription.close()
}

/** A stage that decides its start as the runtime does. */
async function stage(): Promise<{ subscription: Subscription; starts: Map<number, unknown> }> {
  const starts = new Map<number, unknown>()
  const { subscription } = await subscribeRecording(bus, {
    group: group(),
    topic: inbox(),
    position(assignment) {
      const position = positionAt(assignment)
      starts.set(assignment.ends.partition, position)
      return position.from
    },
  })
  await until('it has joined', () => subscription.joined)
  return { subscription, starts }
}

/** Of the stage, as the console shows it. */
async function progress() {
  const all = await stageProgress({ bus, topicPrefix: prefix }, settings)
  return all.find((one) => one.stage === 'loop-detector')
}

describe('weir reset', () => {
  it('repairs one partition whose first records are gone, while the other one is read', async () => {
    await open()
    const inboxOfWriter = Array.from({ length: 9 }, () => ({
      topic: `${prefix}conversation-events`,
      partition: 0,
      key: 'c',
      value: encode({ type: 'cancel-requested', conversation: 'c', messageId: 'm' } as never),
    }))
    await bus.append(inboxOfWriter)
    // The last id is forged: its writer has no such input.
    await bus.append([0, 1, 2, 3, 4, 7, 1_000_000].map((offset) => derived(0, offset)))
    await bus.append([derived(1, 0)])
    await commitAt(0, 3, 1)
    expect(await progress()).toEqual({
      stage: 'loop-detector',
      isRunning: false,
      behind: 5,
      oldestAt: expect.any(Number),
    })
    await world.admin.fetchTopicMetadata({ topics: [inbox()] }) // kafkajs's next call needs a leader
    await world.admin.deleteTopicRecords({
      topic: inbox(),
      partitions: [{ partition: 0, offset: '5' }],
    })

    const damaged = await stage()
    await until('it is reported', () => damaged.subscription.damaged?.size === 1)
    expect(damaged.subscription.damaged?.get(0)).toMatch(
      /the commit \(done 3, fold from 1\) is outside the log \(5 to 7\)/,
    )
    expect([...damaged.starts.keys()]).toEqual([1])
    expect(damaged.subscription.joined).toBe(true)
    expect(await progress()).toMatchObject({ isRunning: true })

    const shown = await run({ stage: 'loop-detector' })
    expect(shown.code).toBe(1)
    expect(shown.text).toMatch(/^loop-detector, partition 0: .*outside the log/)
    expect(shown.text).toContain('skips 2 unread records')
    expect(shown.text).toContain('Nothing was changed')
    await expect(run({ yes: true })).rejects.toMatchObject({
      code: 'bus.refused',
      message: expect.stringMatching(/has running members: stop these processes first/),
    })
    await damaged.subscription.close()

    expect(await run({ stage: 'loop-detector', partition: '1' })).toMatchObject({ code: 0 })
    const repaired = await run({ yes: true })
    expect(repaired.text).toContain('repaired loop-detector, partition 0: the stage goes on at 7')
    expect(repaired.code).toBe(0)
    expect(await run({})).toEqual({ code: 0, text: 'No commit is outside its log.\n' })

    const next = await stage()
    await until('both are assigned', () => next.starts.size === 2)
    expect(next.starts.get(0)).toEqual({ done: 7, from: 7, marks: { 'conversation/0': [7, 0] } })
    await next.subscription.close()
  }, 60_000)

  it('refuses to repair a commit after the end, and deletes topics and groups together', async () => {
    await open()
    await commitAtEndOf(1, 50)
    const shown = await run({ yes: true, stage: 'loop-detector' })
    expect(shown.code).toBe(1)
    expect(shown.text).toContain('weir reset --all')

    const foreign = `${prefix}other-program`
    await world.admin.createTopics({
      waitForLeaders: false,
      topics: [{ topic: foreign, numPartitions: 1 }],
    })
    const listed = await run({ all: true })
    expect(listed.code).toBe(1)
    expect(listed.text).toContain(`group ${group()}\n`)
    expect(listed.text).toContain(`topic ${prefix}history\n`)
    expect(listed.text).not.toContain(foreign)
    expect(await run({ all: true, yes: true })).toMatchObject({ code: 0 })
    await until('they are gone', async () => {
      const topics = await world.admin.listTopics()
      return topics.filter((name) => name.startsWith(prefix)).join() === foreign
    })
    const fresh = world.kafka.admin() // the other one asks for the deleted topics
    await fresh.connect()
    const { groups } = await fresh.listGroups()
    await fresh.disconnect()
    expect(groups.filter(({ groupId }) => groupId.startsWith(prefix))).toEqual([])
  }, 60_000)

  it.each<[string, ResetOptions, RegExp]>([
    ['an unknown stage', { stage: 'loop' }, /unknown stage 'loop'/],
    ['a partition that is no number', { stage: 'validator', partition: 'x' }, /must be a number/],
    ['a partition without a stage', { partition: '1' }, /--partition needs --stage/],
    ['--all with a stage', { all: true, stage: 'validator' }, /leave out --stage/],
  ])('refuses %s', async (_, options, message) => {
    await expect(run(options)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    })
  })

  it('refuses the embedded bus', async () => {
    const embedded = readSettings({ dataFolder: folder }, {})
    await expect(reset({}, embedded, output().stream)).rejects.toMatchObject({ code: 'usage' })
  })
})

async function commitAtEndOf(partition: number, offset: number): Promise<void> {
  await bus.append([derived(partition, 1)])
  await commitAt(partition, offset, offset)
}
