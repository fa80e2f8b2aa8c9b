// A consumer with a reader that records its calls.

import { describe, expect, it } from '@jest/globals'
import {
  createPartitionConsumer,
  type PartitionConsumer,
} from '../../../../../shared/bus/kafka/group/partition-consumer.ts'
import type { Step, StoredRecord } from '../../../../../shared/contract/bus.ts'
import { turns } from '../scripted-cluster.ts'

const output = { topic: 'activity', partition: 0, key: 'k', value: Buffer.from('v') }

function start(step: Partial<Step> = {}): {
  consumer: PartitionConsumer
  calls: string[]
  end(step: number): Promise<void>
} {
  const calls: string[] = []
  const steps: (() => void)[] = []
  const consumer = createPartitionConsumer({
    topic: 't',
    partition: 0,
    heldBytesMax: 10_000,
    reader: {
      position: 0,
      async read(records) {
        calls.push(`read ${records.map(({ offset }) => offset)}`)
        await new Promise<void>((resolve) => steps.push(resolve))
        return { outputs: [], commit: undefined, ...step }
      },
      acknowledged: () => void calls.push('acknowledged'),
      goAhead: () => void calls.push('go ahead'),
      passed: (position) => void calls.push(`passed ${position}`),
      close: async (how) => void calls.push(`close ${how}`),
    },
    async write() {
      calls.push('write')
      await turns()
      calls.push('written')
    },
    onCommit: () => void calls.push('commit'),
    onRoom: () => {},
    onFailed: (error) => void calls.push(`failed ${error}`),
  })
  const end = async (step: number) => {
    steps[step]?.()
    await turns()
  }
  return { consumer, calls, end }
}

const record = (offset: number): StoredRecord => ({
  topic: 't',
  partition: 0,
  key: 'k',
  value: Buffer.from('v'),
  offset,
  time: 1,
})

/** As fetching does: the position moves first. */
function give({ cursor }: PartitionConsumer, next: number, ...offsets: number[]): void {
  cursor.next = next
  if (offsets.length > 0) cursor.onRecords(offsets.map(record), next)
  else cursor.onSkipped?.()
}

describe('a partition consumer', () => {
  it('reports skipped offsets after the last record once that is acknowledged', async () => {
    const { consumer, calls, end } = start()
    give(consumer, 3, 0, 1)
    give(consumer, 4)
    await turns()
    expect(calls).toEqual(['read 0,1'])
    await end(0)
    expect(calls).toEqual(['read 0,1', 'acknowledged', 'passed 4'])
    give(consumer, 5)
    expect(calls.at(-1)).toBe('passed 5')
  })

  it.each([
    [true, ['write', 'go ahead', 'written', 'commit', 'acknowledged']],
    [false, ['write', 'written', 'commit', 'acknowledged']],
  ])(
    'lets its reader act before its outputs are acknowledged only if they inform: %s',
    async (allowsAhead, expected) => {
      const commit = { offset: 1, metadata: '' }
      const { consumer, calls, end } = start({ outputs: [output], commit, allowsAhead })
      give(consumer, 1, 0)
      await end(0)
      await turns()
      expect(calls.slice(1, 1 + expected.length)).toEqual(expected)
    },
  )

  it('that loses its partition during a step only closes its reader, and once more at shutdown', async () => {
    const { consumer, calls, end } = start()
    give(consumer, 1, 0)
    consumer.stop()
    await consumer.close('lost')
    await end(0)
    give(consumer, 2)
    await consumer.close('shutdown')
    await consumer.close('lost')
    expect(calls).toEqual(['read 0', 'close lost', 'close shutdown'])
  })
})
