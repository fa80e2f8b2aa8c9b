// Reservations of several gateways on one log: each process reads the decisions on its own.

import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { Bus } from '../../../../shared/contract/bus.ts'
import type { BudgetReserved } from '../../../../shared/contract/messages.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import { budgetLog } from '../../../../shared/runtime/budgets/budget-log.ts'
import { createBudgetReaders } from '../../../../shared/runtime/budgets/budget-readers.ts'
import type { LedgerReader } from '../../../../shared/runtime/budgets/ledger-reader.ts'
import { kafkaWorld } from '../../bus/kafka/kafka-world.ts'

const bound = 60
const hard = 1000
const log = createLog({ level: 'silent' })
const kafka = kafkaWorld()

let closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.reverse()) await close()
  closing = []
})

type Gateway = { reader: LedgerReader; context: Parameters<LedgerReader['reserve']>[0] }

function gatewayOn(bus: Bus, topicPrefix: string): Gateway {
  const { ledgers: reader, join } = createBudgetReaders()
  const member = join()
  closing.push(() => member.leave())
  return {
    reader,
    context: { budgets: budgetLog({ bus, topicPrefix, log }), clock: systemClock, log },
  }
}

function reservation(attempt: string): BudgetReserved {
  return {
    type: 'budget-reserved',
    tree: '',
    children: 0,
    once: null,
    tenant: 'acme',
    conversation: `acme:${attempt}`,
    turn: 1,
    round: 1,
    attempt,
    tokens: bound,
    usd: null,
    expiresAt: Date.now() + 3_600_000,
    budgets: [
      {
        id: 'acme/tenant/month/tokens',
        subject: '',
        window: 'month',
        unit: 'tokens',
        soft: null,
        hard,
      },
    ],
  }
}

async function turn({ reader, context }: Gateway, n: number): Promise<number> {
  const reserved = reservation(`attempt-${n}`)
  const decision = await reader.reserve(context, reserved)
  if (decision?.kind !== 'granted') return 0
  const { type: _, budgets, tokens, expiresAt, ...own } = reserved
  const used = (n * 17) % (bound + 1)
  const usage = { inputTokens: used, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  if (n % 5 === 0) return used // its settle is lost
  await context.budgets.append('acme', {
    type: 'budget-settled',
    priced: true,
    ...own,
    counted: 'usage',
    usage,
    tokens: used,
    usd: null,
    prices: '',
  })
  return used
}

const buses: [string, () => Promise<{ open: () => Promise<Bus>; topicPrefix: string }>][] = [
  [
    'the embedded bus',
    async () => {
      const bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
      closing.push(() => bus.close())
      return { open: async () => bus, topicPrefix: '' }
    },
  ],
  ['Kafka', async () => ({ open: kafka.open, topicPrefix: `${randomUUID()}.` })],
]

describe.each(buses)('on %s', (_, world) => {
  it('64 parallel turns in two gateways pass a budget by less than one reservation', async () => {
    const { open, topicPrefix } = await world()
    const topic = `${topicPrefix}budgets`
    const [first, second] = [await open(), await open()]
    await first.ensureTopics([{ name: topic, kind: 'log', partitions: 4 }])
    const gateways = [gatewayOn(first, topicPrefix), gatewayOn(second, topicPrefix)] as const
    const used = await Promise.all(
      Array.from({ length: 64 }, (_, n) => turn(gateways[n % 2 === 0 ? 0 : 1], n)),
    )
    const sum = used.reduce((total, one) => total + one, 0)
    expect(sum).toBeGreaterThan(0)
    expect(sum).toBeLessThan(hard + bound)

    // A gateway that starts later folds the same records, and skips one that is none of a gateway.
    const partition = await gateways[0].context.budgets.partitionOf('acme')
    const forged = encode({ ...reservation('forged'), tenant: 'other', tokens: 1e9 })
    await first.append([{ topic, partition, key: 'acme', value: forged }])
    const later = gatewayOn(await open(), topicPrefix)
    const probes = Array.from({ length: 40 }, (_, n) => [`early-${n}`, `late-${n}`] as const)
    const answers: unknown[][] = []
    for (const [early, late] of probes) {
      const own = (gateway: Gateway, attempt: string) =>
        gateway.reader.reserve(gateway.context, reservation(attempt))
      const one = await own(gateways[0], early)
      const two = await own(later, late)
      answers.push([one?.kind, two?.kind])
    }
    expect(answers.at(-1)).toEqual(['refused', 'refused'])
  })

  it('decides each of two tries of a call that one process reserves at the same time', async () => {
    const { open, topicPrefix } = await world()
    const bus = await open()
    await bus.ensureTopics([{ name: `${topicPrefix}budgets`, kind: 'log', partitions: 4 }])
    const { reader, context } = gatewayOn(bus, topicPrefix)
    const child = { ...reservation('child'), children: 1 }
    const decisions = await Promise.all([child, child].map((own) => reader.reserve(context, own)))
    expect(decisions.map((decision) => decision?.kind)).toEqual(['granted', 'granted'])
  })

  it('decides a further try of a call by its own record, also in a process that reads the topic first', async () => {
    const { open, topicPrefix } = await world()
    const bus = await open()
    await bus.ensureTopics([{ name: `${topicPrefix}budgets`, kind: 'log', partitions: 4 }])
    const [first, second] = [gatewayOn(bus, topicPrefix), gatewayOn(bus, topicPrefix)]
    const hash = 'a'.repeat(64)
    const expiresAt = Date.now() + 3_600_000 // the same for all tries of a call
    const valued = (attempt: string): BudgetReserved => {
      const once = { hash, forMs: 3_600_000 }
      return { ...reservation(attempt), budgets: [], tokens: 0, once, expiresAt }
    }
    const reserve = ({ reader, context }: Gateway, record: BudgetReserved) =>
      reader.reserve(context, record)
    expect(await reserve(first, valued('pay'))).toMatchObject({ kind: 'granted' })
    const { tenant, conversation, turn, round, attempt } = valued('pay')
    const own = { tenant, conversation, turn, round, attempt }
    await first.context.budgets.append(tenant, { type: 'budget-released', ...own })
    expect(await reserve(first, valued('other'))).toMatchObject({ kind: 'granted' })
    expect(await reserve(second, valued('pay'))).toMatchObject({ kind: 'equal' })
  })
})
