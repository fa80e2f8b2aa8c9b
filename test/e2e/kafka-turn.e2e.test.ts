// All stages on Kafka, in one process: a turn with tools, and incident I1, over a real broker.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { reflexModel } from '../../apps/demo/reflex-model.ts'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { type PipelineOptions, withPipeline } from '../support/pipeline.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'

let brokers: string[] = []
beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers.split(',')
}, brokerStartMs)

function onKafka(options: PipelineOptions): PipelineOptions {
  return {
    ...options,
    topicPrefix: `turn-${randomUUID()}.`,
    openBus: (folder) =>
      openKafkaBus({
        client: { brokers, clientId: 'kafka-turn' },
        clock: systemClock,
        log: pino({ level: process.env.WEIR_TEST_LOG ?? 'fatal' }),
        tablesFolder: join(folder, 'tables'),
      }),
  }
}

describe('a turn over Kafka', () => {
  it('runs the tools that the model calls, once each, and ends with its text', async () => {
    const model = script(
      says(call('exec', { command: 'ls' })),
      says(call('exec', { command: 'pwd' })),
      says(text('Two commands ran.')),
    )
    await withPipeline(onKafka({ model }), async ({ ask, server, starts }) => {
      const { finished } = await ask('look around')
      expect(finished).toMatchObject({
        outcome: 'answered',
        reply: 'Two commands ran.',
        totals: { rounds: 3, calls: 2 },
      })
      expect(server.requests).toHaveLength(3)
      expect(resultsOf(server.requests[2])).toEqual(['ran: ls', 'ran: pwd'])
      expect(await starts()).toHaveLength(2)
      const again = await ask('and again')
      expect(again.finished.outcome).toBe('answered')
    })
  })

  it('ends the reflex loop as on the embedded bus: the fourth request has the intervention, and no tool ever starts', async () => {
    await withPipeline(
      onKafka({ model: reflexModel('reflex') }),
      async ({ ask, server, starts }) => {
        const { finished } = await ask('list my files')
        expect(finished).toMatchObject({ outcome: 'answered', totals: { rounds: 4, calls: 3 } })
        expect(server.requests).toHaveLength(4)
        expect(await starts()).toEqual([])
      },
    )
  })
})
