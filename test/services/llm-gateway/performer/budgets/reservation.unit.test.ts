// The settle of a reservation by the counts of an answer.

import { describe, expect, it } from '@jest/globals'
import { reserve } from '../../../../../services/llm-gateway/performer/budgets/reservation.ts'
import type { Message, Usage } from '../../../../../shared/contract/messages.ts'

const none: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
}

type Reserved = Awaited<ReturnType<typeof reserve>>

/** `decision`: as the ledger's reader reports it. */
async function reservedBy(
  decision: object | undefined,
): Promise<{ reserved: Reserved; written: Message[] }> {
  const written: Message[] = []
  const budgets = { append: async (_: string, message: Message) => void written.push(message) }
  const budget = { id: 'acme/tenant/day/tokens', subject: '', window: 'day', unit: 'tokens' }
  const reserved = await reserve({
    context: { budgets },
    reader: { reserve: async () => decision },
    id: { conversation: 'acme:c', turn: 1, round: 0, attempt: 'a' },
    agent: { system: '', model: { name: 'm', maxOutputTokens: 1_000 } },
    request: { history: [] },
    inForce: {
      tenant: 'acme',
      refusesUnpriced: false,
      prices: undefined,
      budgets: [{ ...budget, soft: null, hard: 10_000 }],
    },
    expiresAt: 1,
  } as unknown as Parameters<typeof reserve>[0])
  return { reserved, written }
}

async function settledBy(usage: Partial<Usage>): Promise<Message[]> {
  const { reserved, written } = await reservedBy({ kind: 'granted', soft: [] })
  if (reserved.kind !== 'reserved') throw new Error(reserved.reason)
  await reserved.settle({ ...none, ...usage })
  return written
}

describe('a reservation', () => {
  it('is settled by the counts of the answer', async () => {
    for (const usage of [{ inputTokens: 7, outputTokens: 2 }, { cacheReadTokens: 9 }])
      expect(await settledBy(usage)).toMatchObject([
        { counted: 'usage', tokens: 9, usd: null, priced: false },
      ])
  })

  it('counts in full after an answer without a count of its input', async () => {
    for (const usage of [{}, { outputTokens: 1 }]) {
      const [settled] = await settledBy(usage)
      expect(settled).toMatchObject({ type: 'budget-settled', counted: 'bound' })
      expect((settled as { tokens: number }).tokens).toBeGreaterThan(1_000)
    }
  })

  it('is released if it was not read in time, because its request never starts', async () => {
    const { reserved, written } = await reservedBy(undefined)
    expect(reserved).toMatchObject({ kind: 'failed', code: 'budget.unreadable', retryable: true })
    expect(written).toMatchObject([{ type: 'budget-released', tenant: 'acme', attempt: 'a' }])
  })
})
