// The money of a conversation's turns, from their settled reservations. Turns without a budget have
// none, and a bundle has none. Money is priced once, when it is settled.

import { batchesOf, firstOffsetSince, leadersApartMs } from '../../../shared/bus/range.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { tenantOf } from '../../../shared/contract/tenant.ts'
import { usdText } from '../../terminal/money-text.ts'
import type { Page } from './page.ts'
import type { Timeline } from './timeline.ts'

/**
 * `turn`: its id in records. `usd`: billionths of a US dollar. `requests`: the settled model
 * requests. `unpriced`: those of them whose price was unknown, which `usd` does not have.
 * `prices`: the versions of the prices.
 */
export type TurnMoney = {
  turn: number
  number: number
  usd: number
  requests: number
  unpriced: number
  prices: string[]
}

/** Empty: no model request of these turns was under a budget. */
export async function moneyOf(
  { conversation, turns }: Pick<Timeline, 'conversation' | 'turns'>,
  { bus, topicPrefix }: { bus: Bus; topicPrefix: string },
): Promise<TurnMoney[]> {
  const topic = `${topicPrefix}budgets`
  const [first] = turns
  const ends = await bus.ends(topic).catch(() => []) // the log is older than the topic
  const tenant = tenantOf(conversation)
  const place = ends.find(({ partition }) => partition === partitionOf(tenant, ends.length))
  if (place === undefined || first === undefined || place.begin === place.end) return []
  const range = { topic, partition: place.partition, from: place.begin, to: place.end }
  const from = await firstOffsetSince(bus, range, first.startedAt - leadersApartMs)
  const found = new Map<number, TurnMoney>()
  const counted = new Set<string>()
  for await (const records of batchesOf(bus, { ...range, from }))
    for (const { key, value } of records) {
      const message = messageOf(value)
      if (message?.type !== 'budget-settled' || key !== tenant) continue
      const { turn, attempt, usd, prices } = message
      const number = turns.find((one) => one.turn === turn)?.number
      if (message.conversation !== conversation || number === undefined) continue
      if (counted.has(attempt)) continue
      counted.add(attempt)
      const money = found.get(turn) ?? {
        ...{ turn, number, usd: 0, requests: 0, unpriced: 0, prices: [] },
      }
      money.requests += 1
      money.usd += usd ?? 0
      if (usd === null) money.unpriced += 1
      if (prices !== '' && !money.prices.includes(prices)) money.prices.push(prices)
      found.set(turn, money)
    }
  return [...found.values()].sort((a, b) => a.number - b.number)
}

export function printMoney(page: Page, money: TurnMoney[]): void {
  const priced = money.filter(({ requests, unpriced }) => requests > unpriced)
  if (priced.length === 0) return
  page.blank()
  for (const { number, usd, unpriced, prices } of priced) {
    const without = unpriced === 0 ? '' : `, without ${unpriced} requests of unknown price`
    page.line(0, `Money of turn ${number}: ${usdText(usd)} (${prices.join(', ')})${without}`)
  }
}

function messageOf(value: Uint8Array | null): Message | undefined {
  try {
    return value === null ? undefined : decode(value)
  } catch {
    return undefined
  }
}
