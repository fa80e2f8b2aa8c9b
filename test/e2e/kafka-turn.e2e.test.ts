// All stages on Kafka, in one process: a turn with tools, and incident I1, over a real broker.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { reflexModel } from '../../apps/demo/reflex-model.ts'
import { budgetOf } from '../../apps/service/budgets/change.ts'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { contentOf, contentPieceBytesMax, contentRef } from '../../shared/contract/call/contents.ts'
import type { BudgetReserved } from '../../shared/contract/messages.ts'
import { type Clock, systemClock } from '../../shared/lib/clock.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { replyOf } from '../support/asked-turn.ts'
import { png } from '../support/contents.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { type PipelineOptions, withPipeline } from '../support/pipeline.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'

let brokers: string[] = []
beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers.split(',')
}, brokerStartMs)

function onKafka(options: PipelineOptions, clock: Clock = systemClock): PipelineOptions {
  return {
    ...options,
    topicPrefix: `turn-${randomUUID()}.`,
    openBus: (folder) =>
      openKafkaBus({
        client: { brokers, clientId: 'kafka-turn' },
        clock,
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

  it('reserves and settles each request under a budget, and ends the turn that has reached it', async () => {
    const model = () => says(text('Done.'))
    await withPipeline(onKafka({ model }), async ({ ask, records, server, wiring }) => {
      const { bus, topicPrefix } = wiring
      const budget = { ...budgetOf({ window: 'day', tokens: '1' }), setBy: 'anna', setAt: 0 }
      const message = { type: 'operator-budget', ...budget } as const
      await bus.append([toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })])

      expect((await ask('first')).finished.outcome).toBe('answered')
      const second = await ask('second', { conversation: 'other' })
      expect(second.finished).toMatchObject({
        outcome: 'failed',
        class: 'budget',
        reason: expect.stringContaining('the budget default/tenant/day/tokens is reached'),
      })
      expect(server.requests).toHaveLength(1)
      const used = (await records('budgets')).map((record) => {
        const { type, attempt, tokens = 0 } = record as BudgetReserved
        return { type, attempt, isCounted: tokens > 0 }
      })
      const first = used[0]?.attempt
      expect(used).toEqual([
        { type: 'budget-reserved', attempt: first, isCounted: true },
        { type: 'budget-settled', attempt: first, isCounted: true },
        {
          type: 'budget-reserved',
          attempt: expect.not.stringMatching(`^${first}$`),
          isCounted: true,
        },
      ])
    })
  })

  it('gives an image of several pieces to the model, also in the next turn', async () => {
    const image = contentOf(png(contentPieceBytesMax + 9, 5), 'image/png')
    const sent = Buffer.from(image.data).toString('base64')
    await withPipeline(
      onKafka({ model: () => says(text('Seen.')) }),
      async ({ ask, agent, edge, server }) => {
        const settings = { ...agent.settings, contents: [contentRef(image)] }
        const question = { agent: { ...agent, settings }, text: 'look', contents: [image] }
        const first = await replyOf(edge, { ...question, conversation: 'c', messageId: 'm' })
        expect(first.outcome).toBe('answered')
        expect((await ask('and again')).finished.outcome).toBe('answered')
        for (const request of server.requests)
          expect(JSON.stringify(request.messages[0])).toContain(sent)
        expect(server.requests).toHaveLength(2)
      },
    )
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

const hour = 3_600_000

/** The clock of a machine that is `aheadMs` ahead. */
function wrongClock(aheadMs: number): Clock {
  return { ...systemClock, now: () => Date.now() + aheadMs }
}

describe('on a machine whose clock is', () => {
  it.each([
    ['an hour ahead', hour],
    ['an hour behind', -hour],
  ])('%s, a turn with a retry ends in time, with one tick per deadline', async (_, aheadMs) => {
    const model = script(
      { kind: 'error', status: 529, headers: { 'retry-after': '1' }, message: 'overloaded' },
      says(call('exec', { command: 'ls' })),
      says(text('One command ran.')),
    )
    await withPipeline(
      onKafka({ model }, wrongClock(aheadMs)),
      async ({ ask, server, starts, records, bus, wiring }) => {
        const { finished } = await ask('look around')
        expect(finished).toMatchObject({ outcome: 'answered', reply: 'One command ran.' })
        expect(server.requests).toHaveLength(3)
        expect(await starts()).toHaveLength(1)
        expect(Math.abs((bus.clockSkew?.measuredMs ?? 0) + aheadMs)).toBeLessThan(60_000)

        // The retry is the only deadline that passed. Its tick made the second attempt.
        const inbox = await records('model-requests')
        expect(inbox.filter(({ type }) => type === 'tick')).toHaveLength(1)
        expect(inbox.filter(({ type }) => type === 'attempt-started')).toHaveLength(3)
        const all = await bus.ends(`${wiring.topicPrefix}conversation-events`)
        const before = all.reduce((sum, { end }) => sum + end, 0)
        await new Promise((resolve) => setTimeout(resolve, 2_500)) // two repeats of a second each
        const later = await bus.ends(`${wiring.topicPrefix}conversation-events`)
        expect(later.reduce((sum, { end }) => sum + end, 0)).toBe(before)
      },
    )
  })
})
