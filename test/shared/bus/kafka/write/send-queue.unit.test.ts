import { describe, expect, it } from '@jest/globals'
import {
  type Batch,
  createSendQueue,
  type Job,
  type SendQueue,
} from '../../../../../shared/bus/kafka/write/send-queue.ts'
import type { Appended } from '../../../../../shared/contract/bus.ts'
import { WeirError } from '../../../../../shared/lib/errors.ts'

type Made = { job: Job; outcome: () => Appended[] | WeirError | undefined }

function queueOf(): { queue: SendQueue; send(...texts: string[]): Made; waiting: () => number } {
  let waiting = 0
  const queue = createSendQueue('t', 2, (bytes) => {
    waiting += bytes
  })
  return {
    queue,
    waiting: () => waiting,
    send(...texts) {
      let outcome: Appended[] | WeirError | undefined
      const job: Job = {
        appended: [],
        left: texts.length,
        settled: false,
        resolve: (appended) => (outcome = appended),
        reject: (error) => (outcome = error),
      }
      for (const [n, text] of texts.entries())
        queue.add(
          { topic: 't', partition: 2, key: 'k', value: new TextEncoder().encode(text) },
          job,
          n,
        )
      return { job, outcome: () => outcome }
    },
  }
}

const textsOf = (batch: Batch | undefined) =>
  batch?.entries.map(({ record }) => new TextDecoder().decode(record.value ?? new Uint8Array()))
const tooLarge = new WeirError('bus.record-too-large', 'too large')

describe('the queue of a partition', () => {
  it('sends waiting records together, in order, and resolves each call when its own records are acknowledged', () => {
    const { queue, send, waiting } = queueOf()
    const [one, two] = [send('a', 'b'), send('c')]
    const batch = queue.next(1e6) as Batch
    expect(textsOf(batch)).toEqual(['a', 'b', 'c'])
    queue.acknowledged(batch, 10, 5000)
    expect(one.outcome()).toEqual([10, 11].map((offset) => ({ partition: 2, offset, time: 5000 })))
    expect(two.outcome()).toEqual([{ partition: 2, offset: 12, time: 5000 }])
    expect([queue.isEmpty, waiting()]).toEqual([true, 0])
  })

  it('resends the same batch until it is acknowledged, even if more records arrive', () => {
    const { queue, send } = queueOf()
    send('a')
    const batch = queue.next(1e6) as Batch
    send('b')
    expect(queue.next(1e6)).toBe(batch)
    queue.acknowledged(batch, 0, 0)
    expect(textsOf(queue.next(1e6))).toEqual(['b'])
  })

  it('ends a batch at the limit, and sends a larger record alone', () => {
    const { queue, send } = queueOf()
    send('x'.repeat(300), 'y'.repeat(300), 'z'.repeat(5000), 'w')
    const sizes: (number | undefined)[] = []
    for (let batch = queue.next(1000); batch !== undefined; batch = queue.next(1000)) {
      sizes.push(batch.entries.length)
      queue.acknowledged(batch, 0, 0)
    }
    expect(sizes).toEqual([2, 1, 1])
  })

  it('sends records that are too large together one by one, and later ones together again', () => {
    const { queue, send } = queueOf()
    const caller = send('a', 'b')
    queue.next(1e6)
    send('c', 'd')
    queue.split()
    const sent: (string[] | undefined)[] = []
    for (let batch = queue.next(1e6); batch !== undefined; batch = queue.next(1e6)) {
      sent.push(textsOf(batch))
      queue.acknowledged(batch, sent.length, 0)
    }
    expect(sent).toEqual([['a'], ['b'], ['c', 'd']])
    expect(caller.outcome()).toHaveLength(2)
  })

  it('fails one call: its later records are not sent, those of others are', () => {
    const { queue, send, waiting } = queueOf()
    const [one, two] = [send('a', 'b', 'c'), send('d')]
    queue.next(1e6)
    queue.split()
    queue.next(1e6)
    queue.fail(tooLarge, false)
    expect(one.outcome()).toBe(tooLarge)
    const rest = queue.next(1e6) as Batch
    expect(textsOf(rest)).toEqual(['d'])
    queue.acknowledged(rest, 0, 0)
    expect([two.outcome(), waiting()]).toEqual([[{ partition: 2, offset: 0, time: 0 }], 0])
  })

  it('fails everything together, so nothing overtakes', () => {
    const { queue, send, waiting } = queueOf()
    const callers = [send('a'), send('b')]
    queue.next(1)
    queue.fail(tooLarge, true)
    expect(callers.map(({ outcome }) => outcome())).toEqual([tooLarge, tooLarge])
    expect([queue.isEmpty, queue.next(1e6), waiting()]).toEqual([true, undefined, 0])
  })
})
