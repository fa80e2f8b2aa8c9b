// A guest next to Weir's own agents, on the embedded bus. The test is its front: it writes the two
// records of fronts, and reads advice and verdicts from activity.

import { expect, it } from '@jest/globals'
import { decode } from '../../shared/codec/codec.ts'
import type {
  GuestResults,
  GuestRound,
  Message,
  MessageOf,
  MessageType,
} from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { conversation, request, result, results, round } from '../services/guest/samples.ts'
import { type Pipeline, withPipeline } from '../support/pipeline.ts'
import { script } from '../support/script.ts'
import { waitMaxMs } from '../support/wait-limit.ts'

const failure = { status: 'error', text: 'exec failed: ENOENT: no such file or directory' } as const

it('gives a guest in incident I1 a nudge, a text-only round and the end, and runs no tool of it', async () => {
  await withPipeline({ model: script() }, async (pipeline) => {
    const front = openFront(pipeline)
    const actions: string[] = []
    const keys: string[] = []
    for (let n = 1; n <= 6; n++) {
      await front.write(
        request(`r${n}`, keys, { results: keys.slice(-1).map((key) => result(key, failure)) }),
      )
      actions.push(
        (await front.read('guest-advice', ({ requestId }) => requestId === `r${n}`)).action,
      )
      const key = `a.${n}`
      keys.push(key)
      await front.write(round(key))
      const started = await front.read('round-started', (record) => record.key === key)
      if (started.callsLeft === 0) continue
      const verdicts = await front.read('guest-verdicts', (is) => is.round === started.round)
      expect(verdicts.calls[0]?.verdict).toBe('allow')
    }
    expect(actions).toEqual(['none', 'none', 'none', 'nudge', 'text_only', 'end'])
    expect(await pipeline.starts()).toEqual([])
    expect(await pipeline.records('dead-letters')).toEqual([])
  })
})

it('keeps a schema-invalid call from running, and gives its front the text for the model', async () => {
  await withPipeline({ model: script() }, async (pipeline) => {
    const front = openFront(pipeline)
    await front.write(round('a.1', { calls: [{ raw: '{}' }] }))
    const advice = await front.read('guest-advice', ({ key }) => key === 'a.1')
    expect(advice.denied[0]?.text).toContain("'command'")
    await front.write(results('turn_end', { requestId: 'end' }))
    await front.read('turn-finished', ({ messageId }) => messageId === 'u1')
  })
})

it('stops a guest by a cancel of a client, and keeps its own agents apart', async () => {
  await withPipeline({ model: script() }, async (pipeline) => {
    const front = openFront(pipeline)
    await front.write(request('r1'))
    await front.read('guest-advice', ({ requestId }) => requestId === 'r1')
    await pipeline.edge.cancel({ conversation, messageId: 'u1' })
    await front.read('guest-advice', ({ action }) => action === 'end')
    const { finished } = await pipeline.ask('hello')
    expect(finished.outcome).toBe('answered')
    const refused = await pipeline.ask('hello', { conversation: 'guest:x:1', messageId: 'm2' })
    expect(refused.finished).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('guest:'),
    })
  })
})

function openFront({ wiring: { bus, topicPrefix, partitions }, failed }: Pipeline) {
  const partition = partitionOf(conversation, partitions)
  return {
    write: (message: GuestRound | GuestResults) =>
      bus.append([toRecord({ topic: `${topicPrefix}guest-events`, partition, message })]),
    /** The first such record, which may come later. */
    read<T extends MessageType>(
      type: T,
      isIt: (message: MessageOf<T>) => boolean,
    ): Promise<MessageOf<T>> {
      return Promise.race([found(type, isIt), failed])
    },
  }

  async function found<T extends MessageType>(type: T, isIt: (message: MessageOf<T>) => boolean) {
    const signal = AbortSignal.timeout(waitMaxMs)
    const topic = `${topicPrefix}activity`
    for await (const records of bus.follow({ topic, partition, from: 0, signal }))
      for (const { value } of records) {
        const message: Message = decode(value ?? new Uint8Array())
        if (message.type === type && isIt(message as MessageOf<T>)) return message as MessageOf<T>
      }
    throw new Error(`no ${type} came`)
  }
}
