// Members of one group that join, leave or are considered dead. Two buses in one process are two
// members.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { Bus } from '../../../../shared/contract/bus.ts'
import { type Clock, systemClock } from '../../../../shared/lib/clock.ts'
import { newName, record } from '../contract-world.ts'
import {
  commitBehind,
  type Recording,
  type RecordingOptions,
  subscribeRecording,
  textOf,
  until,
} from '../recording-readers.ts'
import { kafkaWorld, stoppableClock } from './kafka-world.ts'

const world = kafkaWorld()

/**
 * For a member whose session end the test awaits: short, but long enough to survive a busy machine.
 */
const shortSessionMs = 4_000

/** Its current partitions: those whose last reader is not closed. */
function held({ partitions }: Recording): number[] {
  return [...partitions]
    .flatMap(([partition, { happenings }]) =>
      happenings.at(-1)?.what === 'closed' ? [] : [partition],
    )
    .sort()
}

/** Counts the assignments of each partition, which a Recording does not keep. */
async function subscribeCounting(
  bus: Bus,
  options: RecordingOptions,
): Promise<Recording & { assigned: number[] }> {
  const assigned: number[] = []
  const recording = await subscribeRecording(bus, {
    ...options,
    position(assignment) {
      assigned.push(assignment.ends.partition)
      return options.position?.(assignment) ?? assignment.committed?.offset ?? assignment.ends.begin
    },
  })
  return Object.assign(recording, { assigned })
}

describe('a member that joins', () => {
  it('gets its share: the other member keeps the readers of its partitions, and closes the rest as lost', async () => {
    const [one, two] = [await world.open(), await world.open()]
    const topic = await world.topic(one, 'log', 4)
    const group = newName('group')
    const first = await subscribeCounting(one, { group, topic })
    await until('the first has all', () => held(first).length === 4 && first.subscription.joined)
    const second = await subscribeCounting(two, { group, topic })
    await until(
      'the second has its share',
      () => held(second).length === 2 && held(first).length === 2,
    )
    expect([...held(first), ...held(second)].sort()).toEqual([0, 1, 2, 3])
    expect(first.assigned.toSorted()).toEqual([0, 1, 2, 3])
    expect(second.assigned.toSorted()).toEqual(held(second))
    for (const partition of held(second))
      expect(first.partitions.get(partition)?.happenings.at(-1)).toEqual({
        what: 'closed',
        how: 'lost',
      })
  })

  it("continues at the other's commits, and only the owner of a partition reads its records", async () => {
    const [one, two] = [await world.open(), await world.open()]
    const topic = await world.topic(one, 'log', 2)
    const group = newName('group')
    const writeText = (text: string) =>
      one.append([0, 1].map((partition) => record(topic, `${text}${partition}`, { partition })))
    const metadata = 'where to fold from'
    const step: RecordingOptions['step'] = (batch) => ({
      outputs: [],
      commit: commitBehind(batch, metadata),
    })
    const first = await subscribeCounting(one, { group, topic, step })
    await writeText('before ')
    await until('both are read', () => first.records.length === 2)
    const second = await subscribeCounting(two, { group, topic, step })
    await until('the second has one', () => held(second).length === 1 && held(first).length === 1)
    await writeText('after ')
    const [moved] = held(second)
    await until('both have read', () => second.records.length === 1 && first.records.length === 3)
    expect(second.partitions.get(moved as number)?.assignment.committed).toEqual({
      offset: 1,
      metadata,
    })
    expect(second.values()).toEqual([`after ${moved}`])
    expect(first.values().toSorted()).toEqual(
      ['before 0', 'before 1', `after ${1 - (moved as number)}`].toSorted(),
    )
  })

  it('does not wait for a reader that closes slowly', async () => {
    const [one, two] = [await world.open(), await world.open()]
    const topic = await world.topic(one, 'log', 2)
    const group = newName('group')
    const { promise: toolEnds, resolve: endTool } = Promise.withResolvers<void>()
    const first = await subscribeCounting(one, { group, topic, closed: () => toolEnds })
    await until('the first has all', () => held(first).length === 2)
    const second = await subscribeCounting(two, { group, topic })
    await until('the second has its share', () => held(second).length === 1)
    const [moved] = held(second)
    await one.append([record(topic, 'for the new owner', { partition: moved as number })])
    await until('the new owner has read', () => second.values().includes('for the new owner'))
    expect(first.values()).toEqual([])
    endTool()
  })
})

describe('a member that leaves', () => {
  it('releases its partitions at once, without a session timeout', async () => {
    const times = { sessionMs: 300_000 } // far longer than this test may run
    const [one, two] = [await world.open({ times }), await world.open({ times })]
    const topic = await world.topic(one, 'log', 4)
    const group = newName('group')
    const first = await subscribeCounting(one, { group, topic })
    const second = await subscribeCounting(two, { group, topic })
    await until('both have a share', () => held(first).length === 2 && held(second).length === 2)
    await first.subscription.close()
    await until('the second has all', () => held(second).length === 4)
  })
})

describe('a member that the group dropped', () => {
  it("loses all its partitions when it wakes up, and gets new readers at the others' commits", async () => {
    const clock = stoppableClock()
    const [paused, other] = [
      await world.open({ clock, times: { sessionMs: shortSessionMs } }),
      await world.open(),
    ]
    const topic = await world.topic(paused, 'log', 2)
    const group = newName('group')
    const first = await subscribeCounting(paused, { group, topic })
    await until('the first has all', () => held(first).length === 2 && first.subscription.joined)
    const second = await subscribeCounting(other, { group, topic })
    await until('both have a share', () => held(first).length === 1 && held(second).length === 1)
    clock.stop()
    await until('the other has all', () => held(second).length === 2)
    // Its session ends later than the group's: it counts from the answer that it got.
    await until('the first knows of the end', () => !first.subscription.joined)
    await other.append(
      [0, 1].map((partition) =>
        record(topic, `to the one that is there ${partition}`, { partition }),
      ),
    )
    await until('they are read', () => second.records.length === 2)
    const [had] = held(first)
    await second.subscription.close()
    clock.go()
    await until('the first is back', () => first.subscription.joined && held(first).length === 2)
    // Also its earlier partition: another member has acted there since, so its memory is stale.
    expect(first.assigned.filter((partition) => partition === had)).toEqual([had, had])
    expect(first.partitions.get(had as number)?.assignment.committed?.offset).toBe(1)
    await other.append(
      [0, 1].map((partition) => record(topic, `later ${partition}`, { partition })),
    )
    // A zombie read these before it woke up, because its timers stood still. No commit followed.
    await until(
      'the first reads again',
      () => first.values().filter((text) => text.startsWith('later')).length === 2,
    )
  })
})

describe('a slow partition', () => {
  it("affects neither the membership nor the member's other partitions", async () => {
    // A heartbeat follows the answer to the last one, so these count answers.
    const heartbeatMs = 31
    let heartbeats = 0
    const clock: Clock = {
      ...systemClock,
      after(delayMs, fire) {
        if (delayMs === heartbeatMs) heartbeats += 1
        return systemClock.after(delayMs, fire)
      },
    }
    const bus = await world.open({ clock, times: { heartbeatMs } })
    const topic = await world.topic(bus, 'log', 2)
    const { promise: slowEnds, resolve: endSlow } = Promise.withResolvers<void>()
    const recording = await subscribeCounting(bus, {
      group: newName('group'),
      topic,
      async step(batch, { ends }) {
        if (ends.partition === 0) await slowEnds
        return { outputs: [], commit: commitBehind(batch) }
      },
    })
    await until('it has all', () => recording.subscription.joined)
    await bus.append([record(topic, 'slow')])
    await until('the slow one is at it', () => recording.values().includes('slow'))
    for (let n = 0; n < 10; n += 1) {
      const seen = heartbeats
      await bus.append([record(topic, `quick ${n}`, { partition: 1 })])
      await until('the other goes on', () => recording.values().includes(`quick ${n}`))
      await until('the broker answers two heartbeats', () => heartbeats > seen + 2)
    }
    expect([recording.subscription.joined, recording.assigned.toSorted()]).toEqual([true, [0, 1]])
    endSlow()
    await until(
      'the slow one is done',
      () => recording.partitions.get(0)?.happenings.at(-1)?.what === 'acknowledged',
    )
  })
})

describe('a group', () => {
  it('rejects a member that is not Weir, with the reason', async () => {
    const bus = await world.open()
    const topic = await world.topic(bus)
    const group = newName('group')
    const stranger = world.kafka.consumer({ groupId: group, heartbeatInterval: 100 })
    await stranger.connect()
    await stranger.subscribe({ topic })
    const { promise: joined, resolve } = Promise.withResolvers<void>()
    stranger.on('consumer.group_join', () => resolve())
    await stranger.run({ eachMessage: async () => {} })
    await joined
    try {
      const recording = await subscribeRecording(bus, { group, topic })
      await expect(recording.subscription.failed).rejects.toMatchObject({
        code: 'bus.group-foreign',
      })
    } finally {
      await stranger.disconnect()
    }
  })

  it('may be reset by an operator while it is empty: the next owner gets the offset without metadata', async () => {
    const bus = await world.open()
    const topic = await world.topic(bus)
    const group = newName('group')
    const recording = await subscribeRecording(bus, {
      group,
      topic,
      step: (batch) => ({ outputs: [], commit: commitBehind(batch, 'ours') }),
    })
    await bus.append(['a', 'b', 'c'].map((text) => record(topic, text)))
    await until('all is read', () => recording.records.length === 3)
    await recording.subscription.close()
    await world.admin.setOffsets({
      groupId: group,
      topic,
      partitions: [{ partition: 0, offset: '1' }],
    })
    const next = await subscribeRecording(bus, { group, topic })
    await until('the rest is read', () => next.records.length === 2)
    expect(next.partitions.get(0)?.assignment.committed).toEqual({ offset: 1, metadata: '' })
    expect(next.records.map(textOf)).toEqual(['b', 'c'])
  })
})

describe('a static member', () => {
  it('that was killed gets its partitions back at once at its next start, and no other moves', async () => {
    const [first, other, next] = [
      await world.open({ instanceId: 'a' }),
      await world.open({ instanceId: 'b' }),
      await world.open({ instanceId: 'a' }),
    ]
    const topic = await world.topic(first, 'log', 2)
    const group = newName('group')
    const killed = await subscribeCounting(first, { group, topic })
    await until('it has both', () => held(killed).length === 2)
    const staying = await subscribeCounting(other, { group, topic })
    await until('each has one', () => held(killed).length === 1 && held(staying).length === 1)
    const [partition] = held(killed)
    const before = [...staying.assigned]

    await killed.subscription.close() // a static member sends no leave, as a killed one
    const again = await subscribeCounting(next, { group, topic })
    await until('it is back', () => held(again).length === 1) // the session is a minute
    expect(held(again)).toEqual([partition])
    expect(staying.assigned).toEqual(before)
    await next.append([{ ...record(topic, 'x'), partition: partition as number }])
    await until('it reads', () => again.records.length === 1)
  })

  it('by its place leaves at its end, and another member gets its partitions at once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-places-'))
    const placePath = join(folder, 'process')
    const [first, other] = [await world.open({ placePath }), await world.open({ placePath })]
    const topic = await world.topic(first, 'log', 2)
    const group = newName('group')
    const leaving = await subscribeCounting(first, { group, topic })
    await until('it has both', () => held(leaving).length === 2)
    const staying = await subscribeCounting(other, { group, topic })
    await until('each has one', () => held(leaving).length === 1 && held(staying).length === 1)
    const { members } = (await world.admin.describeGroups([group])).groups[0] ?? { members: [] }
    expect(members).toHaveLength(2)
    await leaving.subscription.close()
    await until('the other has both', () => held(staying).length === 2) // the session is a minute
    rmSync(folder, { recursive: true })
  })

  it('ends when another process joins under its name', async () => {
    const first = await world.open({ instanceId: 'a' })
    const second = await world.open({ instanceId: 'a' })
    const topic = await world.topic(first)
    const group = newName('group')
    const fenced = await subscribeRecording(first, { group, topic })
    await until('it is a member', () => fenced.subscription.joined)
    const later = await subscribeRecording(second, { group, topic })
    await until('the second is a member', () => later.subscription.joined)
    await expect(fenced.subscription.failed).rejects.toMatchObject({
      code: 'bus.refused',
      message: expect.stringMatching(/another process joined the group .* as a: give each process/),
    })
    expect(held(later)).toEqual([0])
  })
})

describe('a session time', () => {
  it('that the broker does not allow ends the subscription, and the error names the setting', async () => {
    const bus = await world.open({ times: { sessionMs: 100 } })
    const topic = await world.topic(bus)
    const recording = await subscribeRecording(bus, { group: newName('group'), topic })
    await expect(recording.subscription.failed).rejects.toMatchObject({
      code: 'bus.refused',
      message: expect.stringContaining('--session-timeout-ms (WEIR_SESSION_TIMEOUT_MS)'),
    })
  })
})
