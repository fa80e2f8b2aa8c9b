// The part of the bus contract about groups: the calls to a reader, their order, and the durability
// of each step. contract.ts runs it. contract-world.ts has the shared helpers.

import { expect, test } from '@jest/globals'

import type { Assignment, Bus, StoredRecord } from '../../../shared/contract/bus.ts'
import { type ContractOptions, newName, readAll, record, type World } from './contract-world.ts'
import {
  commitBehind,
  type Recording,
  subscribeRecording,
  textOf,
  until,
} from './recording-readers.ts'

const numbers = (count: number, name = '') => Array.from({ length: count }, (_, n) => `${name}${n}`)

export function subscriptionContract(world: World, { keeps }: ContractOptions): void {
  /** The call that the next owner of the group's partition 0 gets. */
  async function nextAssignment(bus: Bus, group: string, topic: string): Promise<Assignment> {
    const recording = await subscribeRecording(bus, {
      group,
      topic,
      position: ({ ends }) => ends.end,
    })
    await until('partition 0 is assigned', () => recording.partitions.has(0))
    await recording.subscription.close()
    return recording.partitions.get(0)!.assignment
  }

  async function allRead(recording: Recording, count: number): Promise<void> {
    await until(`${count} records are read`, () => recording.records.length >= count)
  }

  async function allAcknowledged(recording: Recording, count: number): Promise<void> {
    await allRead(recording, count)
    await until('the last step of each partition is acknowledged', () =>
      [...recording.partitions.values()].every(
        ({ happenings }) => happenings.at(-1)?.what !== 'read',
      ),
    )
  }

  test('assigns every partition, with the ends at that moment, and no commit to a new group', async () => {
    const topic = await world.topic('log', 3)
    await world.appendTexts(topic, ['a', 'b'], 1)
    const recording = await subscribeRecording(world.bus, { group: newName('group'), topic })
    await until('all are assigned', () => recording.partitions.size === 3)
    const assignments = [...recording.partitions.values()].map(({ assignment }) => assignment)
    expect(assignments.toSorted((a, b) => a.ends.partition - b.ends.partition)).toEqual([
      { topic, ends: { partition: 0, begin: 0, end: 0 }, committed: undefined },
      { topic, ends: { partition: 1, begin: 0, end: 2 }, committed: undefined },
      { topic, ends: { partition: 2, begin: 0, end: 0 }, committed: undefined },
    ])
    await recording.subscription.close()
  })

  test('has joined from the moment that every partition has a reader until it is closed', async () => {
    const topic = await world.topic('log', 2)
    const recording = await subscribeRecording(world.bus, { group: newName('group'), topic })
    await until('it has joined', () => recording.subscription.joined)
    expect(recording.partitions.size).toBe(2)
    await recording.subscription.close()
    expect(recording.subscription.joined).toBe(false)
  })

  test('gives readers existing and new records, each partition in order and without gaps', async () => {
    const topic = await world.topic('log', 2)
    await world.appendTexts(topic, numbers(1200, 'zero '), 0)
    await world.appendTexts(topic, numbers(3, 'one '), 1)
    const recording = await subscribeRecording(world.bus, { group: newName('group'), topic })
    await allRead(recording, 1203)
    await world.appendTexts(topic, ['last'], 0)
    await allRead(recording, 1204)
    await recording.subscription.close()
    expect(recording.partitions.get(0)!.records.map(textOf)).toEqual([
      ...numbers(1200, 'zero '),
      'last',
    ])
    expect(recording.partitions.get(1)!.records.map(textOf)).toEqual(numbers(3, 'one '))
    const offsets = recording.partitions.get(0)!.records.map(({ offset }) => offset)
    expect(offsets).toEqual(numbers(1201).map(Number))
  })

  test('gives readers the records as stored', async () => {
    const topic = await world.topic('table')
    await world.bus.append([{ topic, partition: 0, key: 'k', value: null, id: 'stage/0/1/0' }])
    const recording = await subscribeRecording(world.bus, { group: newName('group'), topic })
    await allRead(recording, 1)
    await recording.subscription.close()
    expect(recording.records).toEqual(await readAll(world.bus, topic))
  })

  test("begins at the reader's position, not at the group's commit", async () => {
    const topic = await world.topic('log')
    const group = newName('group')
    await world.appendTexts(topic, ['a', 'b', 'c', 'd'])
    const first = await subscribeRecording(world.bus, { group, topic })
    await allAcknowledged(first, 4)
    await first.subscription.close()
    const second = await subscribeRecording(world.bus, { group, topic, position: () => 2 })
    await allRead(second, 2)
    await second.subscription.close()
    expect(second.values()).toEqual(['c', 'd'])
  })

  test('waits at the end when a reader begins there', async () => {
    const topic = await world.topic('log')
    await world.appendTexts(topic, ['a', 'b'])
    const recording = await subscribeRecording(world.bus, {
      group: newName('group'),
      topic,
      position: ({ ends }) => ends.end,
    })
    await until('it is assigned', () => recording.partitions.has(0))
    await world.appendTexts(topic, ['c'])
    await allRead(recording, 1)
    await recording.subscription.close()
    expect(recording.values()).toEqual(['c'])
  })

  test('makes the calls for one partition one after the other, and acknowledges each step', async () => {
    const topic = await world.topic('log')
    let running = 0
    let most = 0
    const recording = await subscribeRecording(world.bus, {
      group: newName('group'),
      topic,
      async step(batch) {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running -= 1
        return { outputs: [], commit: commitBehind(batch) }
      },
      acknowledged() {
        most = Math.max(most, running + 1)
      },
    })
    for (const text of numbers(20)) await world.appendTexts(topic, [text])
    await allAcknowledged(recording, 20)
    await recording.subscription.close()
    expect(most).toBe(1)
    const [assigned, ...between] = recording.partitions.get(0)!.happenings.map(({ what }) => what)
    const closed = between.pop()
    expect([assigned, closed]).toEqual(['assigned', 'closed'])
    expect(between).toEqual(between.map((_, n) => (n % 2 === 0 ? 'read' : 'acknowledged')))
  })

  test('acknowledges a step without outputs', async () => {
    const topic = await world.topic('log')
    const step = () => ({ outputs: [], commit: undefined })
    const recording = await subscribeRecording(world.bus, { group: newName('group'), topic, step })
    await world.appendTexts(topic, ['a'])
    await allAcknowledged(recording, 1)
    await recording.subscription.close()
    expect(recording.values()).toEqual(['a'])
  })

  test('writes outputs to each destination in the order of the input', async () => {
    const [inbox, next, other] = [
      await world.topic('log'),
      await world.topic('log', 2),
      await world.topic('log'),
    ]
    const outputsOf = (input: StoredRecord) => [
      { ...record(next, `${textOf(input)} first`), id: `test/0/${input.offset}/0` },
      record(next, `${textOf(input)} aside`, { partition: 1 }),
      record(other, `${textOf(input)} other`),
      { ...record(next, `${textOf(input)} second`), id: `test/0/${input.offset}/1` },
    ]
    const recording = await subscribeRecording(world.bus, {
      group: newName('group'),
      topic: inbox,
      step: (batch) => ({ outputs: batch.flatMap(outputsOf), commit: commitBehind(batch) }),
    })
    for (const text of numbers(5)) await world.appendTexts(inbox, [text, `${text}'`])
    await allAcknowledged(recording, 10)
    await recording.subscription.close()
    const inputs = numbers(5).flatMap((text) => [text, `${text}'`])
    const written = await readAll(world.bus, next)
    expect(written.map(textOf)).toEqual(
      inputs.flatMap((text) => [`${text} first`, `${text} second`]),
    )
    expect(written.map(({ id }) => id)).toEqual(
      inputs.flatMap((_, n) => [`test/0/${n}/0`, `test/0/${n}/1`]),
    )
    expect((await readAll(world.bus, next, 1)).map(textOf)).toEqual(
      inputs.map((text) => `${text} aside`),
    )
    expect((await readAll(world.bus, other)).map(textOf)).toEqual(
      inputs.map((text) => `${text} other`),
    )
  })

  test('acknowledges a step only when its outputs can be read', async () => {
    const [inbox, next] = [await world.topic('log'), await world.topic('log')]
    const readable: Promise<StoredRecord[]>[] = []
    const recording = await subscribeRecording(world.bus, {
      group: newName('group'),
      topic: inbox,
      step: (batch) => ({
        outputs: batch.map((input) => record(next, textOf(input))),
        commit: commitBehind(batch),
      }),
      acknowledged: () => readable.push(readAll(world.bus, next)),
    })
    await world.appendTexts(inbox, ['a'])
    await allAcknowledged(recording, 1)
    await Promise.all(readable) // a broker returns records a moment later
    await world.appendTexts(inbox, ['b'])
    await allAcknowledged(recording, 2)
    await recording.subscription.close()
    expect((await Promise.all(readable)).map((records) => records.map(textOf))).toEqual([
      ['a'],
      ['a', 'b'],
    ])
  })

  test('lets a stage write into its own inbox', async () => {
    const inbox = await world.topic('log')
    const recording = await subscribeRecording(world.bus, {
      group: newName('group'),
      topic: inbox,
      step: (batch) => ({
        outputs: batch
          .filter((input) => textOf(input) === 'question')
          .map(() => record(inbox, 'answer')),
        commit: commitBehind(batch),
      }),
    })
    await world.appendTexts(inbox, ['question'])
    await allAcknowledged(recording, 2)
    await recording.subscription.close()
    expect(recording.values()).toEqual(['question', 'answer'])
  })

  test('gives the next owner the newest commit, with offset and metadata as a pair', async () => {
    const topic = await world.topic('log')
    const group = newName('group')
    const metadata = JSON.stringify({ from: 1, marks: { 'validator/0': 17 }, text: 'ü' })
    const recording = await subscribeRecording(world.bus, {
      group,
      topic,
      step: (batch) => ({ outputs: [], commit: commitBehind(batch, metadata) }),
    })
    await world.appendTexts(topic, ['a', 'b', 'c'])
    await allAcknowledged(recording, 3)
    await recording.subscription.close()
    expect((await nextAssignment(world.bus, group, topic)).committed).toEqual({
      offset: 3,
      metadata,
    })
  })

  test('keeps the former commit when a step has none', async () => {
    const topic = await world.topic('log')
    const group = newName('group')
    const recording = await subscribeRecording(world.bus, {
      group,
      topic,
      step: (batch) => ({
        outputs: [],
        commit: batch[0]?.offset === 0 ? { offset: 1, metadata: 'one' } : undefined,
      }),
    })
    await world.appendTexts(topic, ['a'])
    await allAcknowledged(recording, 1)
    await world.appendTexts(topic, ['b'])
    await allAcknowledged(recording, 2)
    await recording.subscription.close()
    const again = await subscribeRecording(world.bus, { group, topic })
    await allRead(again, 1)
    await again.subscription.close()
    expect(again.partitions.get(0)?.assignment.committed).toEqual({ offset: 1, metadata: 'one' })
    expect(again.values()).toEqual(['b'])
  })

  test('keeps the commits of partitions and of groups apart', async () => {
    const topic = await world.topic('log', 2)
    const [one, two] = [newName('group'), newName('group')]
    await world.appendTexts(topic, ['a', 'b'], 0)
    await world.appendTexts(topic, ['c'], 1)
    const first = await subscribeRecording(world.bus, { group: one, topic })
    await allAcknowledged(first, 3)
    const second = await subscribeRecording(world.bus, {
      group: two,
      topic,
      step: () => ({ outputs: [], commit: undefined }),
    })
    await allRead(second, 3)
    await Promise.all([first.subscription.close(), second.subscription.close()])
    const third = await subscribeRecording(world.bus, { group: one, topic })
    await until('all are assigned', () => third.partitions.size === 2)
    await third.subscription.close()
    expect(
      [0, 1].map((partition) => third.partitions.get(partition)?.assignment.committed?.offset),
    ).toEqual([2, 1])
    expect((await nextAssignment(world.bus, two, topic)).committed).toBeUndefined()
  })

  test('gives the reader a commit outside the log unchanged', async () => {
    const topic = await world.topic('log')
    const group = newName('group')
    const recording = await subscribeRecording(world.bus, {
      group,
      topic,
      step: () => ({ outputs: [], commit: { offset: 1000, metadata: 'm' } }),
    })
    await world.appendTexts(topic, ['a'])
    await allAcknowledged(recording, 1)
    await recording.subscription.close()
    expect(await nextAssignment(world.bus, group, topic)).toEqual({
      topic,
      ends: { partition: 0, begin: 0, end: 1 },
      committed: { offset: 1000, metadata: 'm' },
    })
  })

  if (keeps) {
    test('keeps commits with their metadata when the bus is reopened', async () => {
      const topic = await world.topic('log')
      const group = newName('group')
      const recording = await subscribeRecording(world.bus, {
        group,
        topic,
        step: (batch) => ({ outputs: [], commit: commitBehind(batch, 'where to fold from') }),
      })
      await world.appendTexts(topic, ['a', 'b'])
      await allAcknowledged(recording, 2)
      await world.reopen()
      expect((await nextAssignment(world.bus, group, topic)).committed).toEqual({
        offset: 2,
        metadata: 'where to fold from',
      })
    })
  }

  test('fails the subscription of a reader that throws, and no other', async () => {
    const topic = await world.topic('log')
    const broken = await subscribeRecording(world.bus, {
      group: newName('group'),
      topic,
      step: () => Promise.reject(new Error('the reader is broken')),
    })
    const failed = expect(broken.subscription.failed).rejects.toThrow('the reader is broken')
    const sound = await subscribeRecording(world.bus, { group: newName('group'), topic })
    await world.appendTexts(topic, ['a'])
    await failed
    await world.appendTexts(topic, ['b'])
    await allRead(sound, 2)
    expect(broken.values()).toEqual(['a'])
    await Promise.all([broken.subscription.close(), sound.subscription.close()])
    expect(broken.partitions.get(0)?.happenings.at(-1)).toEqual({ what: 'closed', how: 'shutdown' })
  })

  test('commits nothing of a step that failed, so the next owner reads it again', async () => {
    const topic = await world.topic('log')
    const group = newName('group')
    const broken = await subscribeRecording(world.bus, {
      group,
      topic,
      step: () => Promise.reject(new Error('the reader is broken')),
    })
    const failed = expect(broken.subscription.failed).rejects.toThrow('the reader is broken')
    await world.appendTexts(topic, ['a'])
    await failed
    await broken.subscription.close()
    const next = await subscribeRecording(world.bus, { group, topic })
    await allRead(next, 1)
    await next.subscription.close()
    expect(next.values()).toEqual(['a'])
  })

  test('reports a failed assignment, and lets the group subscribe again', async () => {
    const topic = await world.topic('log', 2)
    const group = newName('group')
    const assign = () => Promise.reject(new Error('no reader today'))
    const subscribing = world.bus.subscribe({ group, topic, assign }).then(async (subscription) => {
      await subscription.failed.finally(() => subscription.close())
    })
    await expect(subscribing).rejects.toThrow('no reader today')
    await world.appendTexts(topic, ['a'])
    const next = await subscribeRecording(world.bus, { group, topic })
    await allRead(next, 1)
    await next.subscription.close()
  })

  test('closes every reader once, and then gives out no more records', async () => {
    const topic = await world.topic('log', 2)
    const recording = await subscribeRecording(world.bus, { group: newName('group'), topic })
    await until('all are assigned', () => recording.partitions.size === 2)
    await Promise.all([recording.subscription.close(), recording.subscription.close()])
    await world.appendTexts(topic, ['too late'])
    const control = await subscribeRecording(world.bus, { group: newName('group'), topic })
    await allRead(control, 1)
    await control.subscription.close()
    for (const { happenings } of recording.partitions.values()) {
      expect(happenings).toEqual([{ what: 'assigned' }, { what: 'closed', how: 'shutdown' }])
    }
  })

  test('waits in close for its readers, and writes their last appends', async () => {
    const [topic, own] = [await world.topic('log'), await world.topic('log')]
    const recording = await subscribeRecording(world.bus, {
      group: newName('group'),
      topic,
      async closed() {
        await new Promise((resolve) => setTimeout(resolve, 20))
        await world.bus.append([record(own, 'the outcome of what still ran')])
      },
    })
    await until('it is assigned', () => recording.partitions.has(0))
    await recording.subscription.close()
    expect((await readAll(world.bus, own)).map(textOf)).toEqual(['the outcome of what still ran'])
  })

  test('closes its subscriptions when the bus is closed, which lets readers append to the end', async () => {
    const [topic, own] = [await world.topic('log'), await world.topic('log')]
    const { bus } = world
    let appended = 0
    const recording = await subscribeRecording(bus, {
      group: newName('group'),
      topic,
      async closed() {
        appended += (await bus.append([record(own, 'last')])).length
      },
    })
    await until('it is assigned', () => recording.partitions.has(0))
    await bus.close()
    expect(appended).toBe(1)
    expect(recording.partitions.get(0)?.happenings.at(-1)).toEqual({
      what: 'closed',
      how: 'shutdown',
    })
  })
}
