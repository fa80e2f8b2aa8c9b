// The header of W3C Trace Context on the records of a turn.

import { describe, expect, it } from '@jest/globals'
import { tracedBus } from '../../../../shared/bus/kafka/traced-bus.ts'
import type { Bus, RecordToAppend } from '../../../../shared/contract/bus.ts'
import { traceIdOf, turnSpanId } from '../../../../shared/contract/trace-ids.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'

const written: RecordToAppend[] = []
const bus = tracedBus({
  append: async (records: RecordToAppend[]) => {
    written.push(...records)
    return []
  },
} as unknown as Bus)

const place = { topic: 'activity', partition: 0 }

describe('a bus with traces', () => {
  it('names the span of the turn in each of its records', async () => {
    const turn = { conversation: 'c', turn: 7 }
    const message = { type: 'turn-ended', ...turn } as const
    await bus.append([toRecord({ ...place, message }), toRecord({ ...place, message })])
    const header = `00-${traceIdOf(turn)}-${turnSpanId(turn)}-01`
    expect(written.splice(0).map(({ traceparent }) => traceparent)).toEqual([header, header])
  })

  it('leaves a record without a turn as it is', async () => {
    const message = { type: 'cancel-requested', conversation: 'c', messageId: 'm' } as const
    await bus.append([toRecord({ ...place, message })])
    expect(written.splice(0)).toEqual([
      expect.not.objectContaining({ traceparent: expect.anything() }),
    ])
  })
})
