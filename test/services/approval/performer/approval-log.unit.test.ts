// Compares approval-log.ts with the stage itself in the runtime's own fold: both give the same
// outcome for each call.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import { readApprovals } from '../../../../services/approval/performer/approval-log.ts'
import { approval } from '../../../../services/approval/reducer.ts'
import { codec, decode, encode } from '../../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../../shared/contract/bus.ts'
import type {
  ApprovalAnswered,
  ApprovalAsked,
  ApprovalWithdrawn,
  Tick,
} from '../../../../shared/contract/messages.ts'
import { formatId } from '../../../../shared/runtime/derived-id.ts'
import { createFold } from '../../../../shared/runtime/fold.ts'
import {
  answer,
  approvalAsked,
  clearedAt,
  expiresAt,
  test as other,
  prod,
  prodToo,
  tick,
  withdrawal,
} from '../samples.ts'

/** `again`: a repeat of the latest record of the executor. */
type Happened = {
  time: number
  message: ApprovalAsked | ApprovalAnswered | ApprovalWithdrawn | Tick | 'again'
}

const both = approvalAsked({ calls: [prod, prodToo, other] })

function logOf(happened: Happened[]): StoredRecord[] {
  let written: { value: Uint8Array; id: string } | undefined
  return happened.flatMap(({ time, message }, offset): StoredRecord[] => {
    const at = { topic: 'weir.approvals', partition: 0, key: 'c', offset, time }
    if (message === 'again') return written === undefined ? [] : [{ ...at, ...written }]
    const value = encode(message)
    if (message.type === 'approval-answered' || message.type === 'tick') return [{ ...at, value }]
    written = { value, id: formatId({ stage: 'executor', partition: 0, offset, n: 0 }) }
    return [{ ...at, ...written }]
  })
}

/** By ordinal, of the decided calls. */
type Outcomes = Record<number, string>

async function byStage(log: StoredRecord[]): Promise<Outcomes> {
  async function* readBack(from: number, to: number) {
    yield log.slice(from, to)
  }
  const fold = createFold({
    ...codec,
    stage: approval,
    partition: 0,
    topicPrefix: 'weir.',
    marks: {},
    readBack,
  })
  const outcomes: Outcomes = {}
  for (const record of log) {
    const { records } = await fold.apply(record)
    for (const { value } of records) {
      const message = value && decode(value)
      if (message && message.type === 'approval-decided')
        outcomes[message.ordinal] = message.outcome
    }
  }
  return outcomes
}

async function byLog(log: StoredRecord[]): Promise<Outcomes> {
  const bus = {
    ends: async () => [{ partition: 0, begin: 0, end: log.length }],
    read: async ({
      from,
      to = log.length,
      limit,
    }: {
      from: number
      to?: number | undefined
      limit: number
    }) => log.slice(from, Math.min(to, from + limit)),
    clock: fakeClock(expiresAt),
  }
  const entries = await readApprovals({ bus, topicPrefix: 'weir.' })
  return Object.fromEntries(
    entries.flatMap(({ approval: { kind, request } }) =>
      kind === 'pending' ? [] : [[request.ordinal, kind] as const],
    ),
  )
}

const opening: Happened = { time: clearedAt, message: both }

describe('the approvals in the log', () => {
  it('shows a call as expired if the tick comes before a decision with an earlier time', async () => {
    const log = logOf([
      opening,
      { time: expiresAt, message: tick },
      { time: expiresAt - 400, message: answer({}, both) },
    ])
    expect(await byStage(log)).toEqual({ 0: 'expired', 2: 'expired' })
    expect(await byLog(log)).toEqual({ 0: 'expired', 2: 'expired' })
  })

  it('counts a decision after an early tick', async () => {
    const log = logOf([
      opening,
      { time: expiresAt - 1, message: tick },
      { time: expiresAt - 400, message: answer({}, both) },
    ])
    expect(await byStage(log)).toEqual({ 0: 'allow' })
    expect(await byLog(log)).toEqual({ 0: 'allow' })
  })

  it('agrees with the stage for any records, in any order, at any times', async () => {
    const ordinal = fc.constantFrom(0, 2)
    const message = fc.oneof(
      fc.constant(tick),
      fc.constant('again' as const),
      ordinal.map((ordinal) => withdrawal(ordinal)),
      fc.constant(withdrawal(1)),
      fc
        .record({ ordinal, answer: fc.constantFrom('allow' as const, 'deny' as const) })
        .map((fields) => answer(fields, both)),
      ordinal.map((ordinal) => answer({ ordinal, hash: 'of something else' }, both)),
    )
    const time = fc.oneof(
      fc.integer({ min: expiresAt - 3, max: expiresAt + 2 }),
      fc.constant(clearedAt),
    )
    const histories = fc.array(fc.record({ time, message }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(histories, async (happened) => {
        const log = logOf([opening, ...happened])
        expect(await byLog(log)).toEqual(await byStage(log))
      }),
      { numRuns: 500 },
    )
  })
})
