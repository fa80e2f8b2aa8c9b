import { describe, expect, it } from '@jest/globals'
import {
  createRelay,
  guardAnswersKeptMax,
  type RelayedAnswer,
} from '../../../../services/executor/performer/verdict-relay.ts'
import type { VerdictTask } from '../../../../services/executor/tasks.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../../shared/contract/bus.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { GuardVerdict, InputGiven, Message } from '../../../../shared/contract/messages.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import { guardVerdictWith, verdictWith } from '../../../support/messages.ts'
import { settled, testClock } from '../performer-world.ts'

const hear = (round = 1, fields: Partial<VerdictTask> = {}): VerdictTask => ({
  kind: 'await-verdict',
  conversation: 'c',
  turn: 7,
  round,
  agent: 'agent',
  calledBy: [],
  parent: null,
  calls: [],
  guard: 'shell',
  since: 100_000,
  ...fields,
})

function verdict(round = 1, fields: Partial<GuardVerdict> = {}): GuardVerdict {
  return guardVerdictWith({
    turn: 7,
    round,
    verdicts: [verdictWith()],
    judgedMs: 0,
    deadlineMs: 0,
    ...fields,
  })
}

/** Topics of guards that a test fills, and the records of the relay. */
function world() {
  const clock = testClock()
  const topics = new Map<string, StoredRecord[]>()
  const reads: { guard: string; since: number }[] = []
  const lines: string[] = []
  const written: RelayedAnswer[] = []
  const wakers = new Set<() => void>()
  let broken = false

  async function* guardVerdicts({
    guard,
    since,
    signal,
  }: {
    guard: string
    since: number
    signal: AbortSignal
  }) {
    reads.push({ guard, since })
    if (broken) throw new Error('no such topic')
    for (let next = 0; !signal.aborted; ) {
      const records = (topics.get(guard) ?? []).slice(next).filter(({ time }) => time >= since)
      next = topics.get(guard)?.length ?? 0
      if (records.length > 0) yield records
      else {
        await new Promise<void>((resolve) => {
          wakers.add(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    }
  }

  const log = createLog({
    level: 'trace',
    destination: { write: (line: string) => lines.push(line) },
  })
  const relay = createRelay({ clock, log, guardVerdicts }, (verdicts) => written.push(...verdicts))

  function append(guard: string, value: Uint8Array, key = 'c', time = 100_010) {
    const topic = topics.get(guard) ?? []
    topics.set(guard, topic)
    topic.push({
      topic: `guard-verdicts.${guard}`,
      partition: 0,
      key,
      value,
      offset: topic.length,
      time,
    })
    for (const wake of wakers) wake()
    wakers.clear()
    return settled()
  }

  return {
    clock,
    relay,
    written,
    lines,
    reads,
    append,
    say: (guard: string, message: Message, key?: string, time?: number) =>
      append(guard, encode(message), key, time),
    breakReading: (isBroken: boolean) => {
      broken = isBroken
    },
  }
}

describe('the verdict relay', () => {
  it('reads nothing while nothing waits', async () => {
    const { relay, reads } = world()
    relay.reconcile('u', [])
    await settled()
    expect(reads).toEqual([])
  })

  it("copies the answer to a waiting round once, under the guard's name from its topic", async () => {
    const { relay, say, written } = world()
    relay.reconcile('u', [hear()])
    await say('shell', verdict(1, { guard: 'somebody-else' }))
    await say('shell', verdict())
    expect(written).toEqual([verdict()])
    relay.reconcile('u', [hear()])
    await settled()
    expect(written).toHaveLength(1)
  })

  it('copies the answer to a question from the approval guard only, and to that question', async () => {
    const { relay, say, written, lines } = world()
    const given = (input: number): InputGiven => ({
      type: 'input-given',
      conversation: 'c',
      turn: 7,
      round: 1,
      ordinal: 0,
      input,
      answer: 'accept',
      values: '{}',
    })
    const waits = { ...hear(), calls: [] }
    relay.reconcile('u', [
      { ...waits, guard: 'shell', input: 2 },
      { ...waits, guard: 'approval', input: 2 },
      { ...waits, guard: 'approval' },
    ])
    await say('shell', given(2))
    for (const input of [1, 0, 2, 2]) await say('approval', given(input))
    expect(written).toEqual([given(2)])
    expect(lines.filter((line) => line.includes('must be a guard-verdict'))).toHaveLength(2)
    await say('approval', verdict())
    expect(written.at(-1)).toEqual(verdict(1, { guard: 'approval' }))
  })

  it('finds an answer that came before the round, also while it already follows the guard', async () => {
    const { relay, say, written, reads } = world()
    await say('shell', verdict())
    relay.reconcile('u', [hear()])
    await settled()
    await say('shell', verdict(2))
    expect(written).toEqual([verdict()])
    relay.reconcile('u', [hear(), hear(2)])
    await settled()
    expect(written).toEqual([verdict(), verdict(2)])
    expect(reads).toHaveLength(1)
  })

  it('reads answers again that it could not keep', async () => {
    const { relay, say, written, reads } = world()
    relay.reconcile('other', [hear(0)])
    await settled()
    await say('shell', verdict(1))
    for (let n = 0; n < guardAnswersKeptMax; n += 1) void say('shell', verdict(1_000 + n))
    await settled()
    relay.reconcile('u', [hear(1)])
    await settled()
    expect(reads).toHaveLength(2)
    expect(written).toEqual([verdict(1)])
  })

  it('ignores a record that is not a valid answer of this guard, with a line in the log', async () => {
    const { relay, say, append, written, lines } = world()
    relay.reconcile('u', [hear()])
    await append('shell', Buffer.from('nonsense'))
    await append('shell', Buffer.alloc(limits.guardVerdictBytesMax + 1))
    await say('shell', { type: 'turn-ended', conversation: 'c', turn: 7 })
    await say('shell', verdict(), 'another')
    expect(written).toEqual([])
    expect(lines.filter((line) => line.includes('ignored a record of a guard'))).toHaveLength(4)
    await say('shell', verdict())
    expect(written).toHaveLength(1)
  })

  it('copies nothing for rounds that do not wait, or wait for another guard', async () => {
    const { relay, say, written } = world()
    relay.reconcile('u', [hear(1, { guard: 'spend' }), hear(2)])
    await say('shell', verdict(1))
    await say('shell', verdict(3))
    await say('spend', verdict(2, { guard: 'spend' }))
    expect(written).toEqual([])
    relay.reconcile('u', [])
    await say('shell', verdict(2))
    expect(written).toEqual([])
  })

  it('continues when a topic was unreadable for a while, and finds the answers', async () => {
    const { relay, say, written, breakReading, clock, lines } = world()
    breakReading(true)
    relay.reconcile('u', [hear()])
    await say('shell', verdict())
    expect(lines.some((line) => line.includes('cannot read the verdicts'))).toBe(true)
    breakReading(false)
    clock.pass(limits.guardFollowRetryMs)
    await settled()
    expect(written).toEqual([verdict()])
  })

  it('stops reading when no round has waited for a while, and when it is closed', async () => {
    const { relay, say, reads, clock, written } = world()
    relay.reconcile('u', [hear()])
    await say('shell', verdict())
    relay.reconcile('u', [])
    clock.pass(limits.guardFollowIdleMs)
    relay.reconcile('u', [hear(2, { since: 500_000 })])
    await settled()
    expect(reads).toHaveLength(2)
    relay.close()
    await say('shell', verdict(2), 'c', 500_001)
    expect(written).toHaveLength(1)
  })
})
