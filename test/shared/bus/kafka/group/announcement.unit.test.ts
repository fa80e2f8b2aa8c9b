// The announced versions of a group's members, with a broker that answers as Kafka does in a rebalance.

import { describe, expect, it } from '@jest/globals'
import type { GroupDescription } from 'kafkajs'
import { memberMetadata } from '../../../../../shared/bus/kafka/driver.ts'
import { ownAnnouncement } from '../../../../../shared/bus/kafka/group/announcement.ts'
import { announcedMembers } from '../../../../../shared/bus/kafka/group/group-admin.ts'
import { ownFormat } from '../../../../../shared/codec/codec.ts'
import { type Clock, systemClock } from '../../../../../shared/lib/clock.ts'

const userData = Buffer.from(JSON.stringify(ownAnnouncement('f1')))
const metadata = memberMetadata.encode({ version: 1, topics: ['t'], userData })

function group(state: GroupDescription['state'], groupId = 'w.intake'): GroupDescription {
  const member = {
    clientHost: '/10.0.0.7',
    clientId: 'weir',
    memberId: 'm1',
    memberAssignment: Buffer.alloc(0),
    memberMetadata: state === 'Stable' ? metadata : Buffer.alloc(0),
  }
  return { groupId, members: [member], protocol: '', protocolType: 'consumer', state }
}

/** Answers each question with the next states, and the last states for ever. */
function broker(...answers: GroupDescription[][]) {
  const asked: string[][] = []
  return {
    asked,
    async describe(ids: string[]) {
      asked.push(ids)
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    },
  }
}

/** A clock whose timers fire at once, and whose time is the sum of their delays. */
function fastClock(): Clock {
  let now = 0
  return {
    ...systemClock,
    monotonic: () => now,
    after(ms, fire) {
      now += ms
      queueMicrotask(fire)
      return () => {}
    },
  }
}

describe('the announced members of a group', () => {
  it.each(['PreparingRebalance', 'CompletingRebalance'] as const)(
    'in the state %s are not counted as members of format 1, and the broker gets the question again',
    async (state) => {
      const groups = broker(
        [group('Stable', 'w.guest'), group(state)],
        [group(state)],
        [group('Stable')],
      )
      const members = await announcedMembers(groups.describe, ['w.guest', 'w.intake'], fastClock())
      expect(members.map(({ group, format, agents }) => [group, format, agents])).toEqual([
        ['w.guest', ownFormat, 'f1'],
        ['w.intake', ownFormat, 'f1'],
      ])
      expect(groups.asked).toEqual([['w.guest', 'w.intake'], ['w.intake'], ['w.intake']])
    },
  )

  it('in a rebalance without an end are an error that names the group and can be tried again', async () => {
    const groups = broker([group('PreparingRebalance')])
    await expect(
      announcedMembers(groups.describe, ['w.intake'], fastClock()),
    ).rejects.toMatchObject({
      code: 'bus.refused',
      retryable: true,
      message: expect.stringMatching(/unknown while w\.intake has a rebalance: try again/),
    })
  })

  it('are none for a group that no process has joined', async () => {
    const groups = broker([{ ...group('Empty'), members: [] }])
    expect(await announcedMembers(groups.describe, ['w.intake'], fastClock())).toEqual([])
  })

  it('announce format 1 if a stable member has no metadata, as a Weir before format 2', async () => {
    const [member] = group('PreparingRebalance').members
    const groups = broker([{ ...group('Stable'), members: member === undefined ? [] : [member] }])
    expect(await announcedMembers(groups.describe, ['w.intake'], fastClock())).toMatchObject([
      { process: 'm1', host: '10.0.0.7', format: 1 },
    ])
  })
})
