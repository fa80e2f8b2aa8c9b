// A lane with a reader that writes down how it is called.

import { describe, expect, it } from '@jest/globals'
import { createLane, type Lane } from '../../../../shared/bus/kafka/lane.ts'
import type { StoredRecord } from '../../../../shared/contract/bus.ts'
import { turns } from './made-up-cluster.ts'

function start(): { lane: Lane; calls: string[]; end(step: number): Promise<void> } {
  const calls: string[] = []
  const steps: (() => void)[] = []
  const lane = createLane({
    ...{ topic: 't', partition: 0, heldBytesMax: 10_000 },
    reader: {
      position: 0,
      async read(records) {
        calls.push(`read ${records.map(({ offset }) => offset)}`)
        await new Promise<void>((resolve) => steps.push(resolve))
        return { outputs: [], commit: undefined }
      },
      acknowledged: () => void calls.push('acknowledged'),
      passed: (position) => void calls.push(`passed ${position}`),
      close: async (how) => void calls.push(`close ${how}`),
    },
    write: async () => {},
    done: () => {},
    roomAgain: () => {},
    failed: (error) => void calls.push(`failed ${error}`),
  })
  const end = async (step: number) => {
    steps[step]?.()
    await turns()
  }
  return { lane, calls, end }
}

const record = (offset: number): StoredRecord => ({
  topic: 't',
  partition: 0,
  key: 'k',
  value: Buffer.from('v'),
  offset,
  time: 1,
})

/** As fetching does: the place moves first. */
function give({ cursor }: Lane, next: number, ...offsets: number[]): void {
  cursor.next = next
  if (offsets.length > 0) cursor.take(offsets.map(record), next)
  else cursor.passed?.()
}

describe('a lane', () => {
  it('tells its reader of what is no record behind its last one, when that is acknowledged', async () => {
    const { lane, calls, end } = start()
    give(lane, 3, 0, 1)
    give(lane, 4)
    await turns()
    expect(calls).toEqual(['read 0,1'])
    await end(0)
    expect(calls).toEqual(['read 0,1', 'acknowledged', 'passed 4'])
    give(lane, 5)
    expect(calls.at(-1)).toBe('passed 5')
  })

  it('that is lost during a step calls its reader for nothing more but to close, and again when the process ends', async () => {
    const { lane, calls, end } = start()
    give(lane, 1, 0)
    lane.stop()
    await lane.close('lost')
    await end(0)
    give(lane, 2)
    await lane.close('shutdown')
    await lane.close('lost')
    expect(calls).toEqual(['read 0', 'close lost', 'close shutdown'])
  })
})
