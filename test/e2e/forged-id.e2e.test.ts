// The attack of a client that may write one topic: a record under the id of a stage, with a huge
// offset. Without the check of input-ends.ts the partition drops all genuine records of that stage
// from then on, in silence.

import { describe, expect, it } from '@jest/globals'
import { encode } from '../../shared/codec/codec.ts'
import type { DeadLetter, Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import type { TopicName } from '../../shared/contract/topology.ts'
import { until } from '../support/inbox.ts'
import { cancel, modelRequest } from '../support/messages.ts'
import { type Pipeline, withPipeline } from '../support/pipeline.ts'
import { refoldLog } from '../support/refold-log.ts'
import { call, says, script } from '../support/script.ts'

const conversation = 'made-up'
const failed: Message = { type: 'turn-failed', conversation, turn: null, stage: 'x', reason: 'y' }
const opened: Message = {
  type: 'model-opened',
  conversation,
  turn: 0,
  round: 1,
  offered: [],
  expiresAt: 1,
}
const anyStage = ['conversation', 'loop-detector', 'llm-gateway', 'executor', 'validator']

/** One record for each inbox with a derived writer, and the stages whose ids it can forge. */
const forgeries: [TopicName, Message, string[]][] = [
  ['conversation-events', failed, anyStage],
  ['model-requests', modelRequest({ conversation }), ['conversation']],
  ['model-deltas', opened, ['llm-gateway']],
  ['rounds-checked', cancel({ conversation }), ['conversation']],
  ['rounds-cleared', cancel({ conversation }), ['conversation']],
]
const inboxesOfForgeries = forgeries.flatMap(([topic, , writers]) =>
  writers.map(() => `weir.${topic}`),
)

async function forge({ bus, wiring: { topicPrefix, partitions } }: Pipeline): Promise<void> {
  const partition = partitionOf('tenant', partitions)
  for (const [topic, message, writers] of forgeries)
    for (const writer of writers)
      await bus.append([
        {
          topic: topicPrefix + topic,
          partition,
          key: conversation,
          value: encode(message),
          id: `${writer}/${partition}/900000000000000/0`,
        },
      ])
}

describe('a record under the id of a stage, with an offset that its inbox does not have', () => {
  it('silences no partition, and is a dead letter with a log line in every inbox', async () => {
    const model = script(says(call('exec', { command: 'ls' })))
    await withPipeline({ model }, async (pipeline) => {
      await forge(pipeline)
      const { finished } = await pipeline.ask('list my files', { conversation: 'tenant' })
      expect(finished).toMatchObject({ outcome: 'answered', totals: { rounds: 2, calls: 1 } })
      const forged = inboxesOfForgeries.length
      await until(async () => (await pipeline.records('dead-letters')).length >= forged)
      const letters = (await pipeline.records('dead-letters')) as DeadLetter[]
      expect(new Set(letters.map(({ code }) => code))).toEqual(new Set(['record.forged-id']))
      expect(letters.map(({ topic }) => topic).toSorted()).toEqual(inboxesOfForgeries.toSorted())
      expect(pipeline.log.filter((line) => line.includes('names no input'))).toHaveLength(forged)
    })
  })

  it('silences no partition after a turn, and a replay refuses the same records', async () => {
    const model = script(says(call('exec', { command: 'ls' })))
    await withPipeline({ model }, async (pipeline) => {
      await pipeline.ask('first', { conversation: 'tenant' })
      await forge(pipeline)
      const { finished } = await pipeline.ask('second', { conversation: 'tenant' })
      expect(finished).toMatchObject({ outcome: 'answered' })
      const forged = inboxesOfForgeries.length
      await until(async () => (await pipeline.records('dead-letters')).length >= forged)
      const { bus, wiring } = pipeline
      const refolded = await refoldLog({ ...wiring, bus } as Parameters<typeof refoldLog>[0])
      expect(refolded).toMatchObject({ missing: [], differing: [] })
    })
  })
})
