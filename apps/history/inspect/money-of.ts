// The money of a conversation's turns (money.ts next to this folder).

import { batchesOf, rangeSince } from '../../../shared/bus/range.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { tenantOf } from '../../../shared/contract/tenant.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import { addSettled, type Money, noMoney } from '../../../shared/view/totals.ts'
import { moneyText } from '../../terminal/text/money-text.ts'
import { budgetEnds, settledIn } from '../money.ts'
import type { Page } from './page.ts'

/** `turn`: its id in records. */
export type TurnMoney = Money & { turn: number; number: number }

/** Empty: no model request of these turns was under a budget in money. */
export async function moneyOf(
  { conversation, turns }: Pick<Timeline, 'conversation' | 'turns'>,
  { bus, topicPrefix }: { bus: Bus; topicPrefix: string },
): Promise<TurnMoney[]> {
  const topic = `${topicPrefix}budgets`
  const [first] = turns
  const ends = await budgetEnds({ bus, topicPrefix })
  const tenant = tenantOf(conversation)
  if (ends.length === 0 || first === undefined) return []
  const partition = partitionOf(tenant, ends.length)
  const range = await rangeSince(bus, { topic, partition }, first.startedAt)
  const found = new Map<number, TurnMoney>()
  const counted = new Set<string>()
  for await (const records of batchesOf(bus, range))
    for (const { key, value } of records) {
      const settled = key === tenant ? settledIn(key, value) : undefined
      if (settled?.conversation !== conversation || counted.has(settled.attempt)) continue
      const { turn } = settled
      const number = turns.find((one) => one.turn === turn)?.number
      if (number === undefined) continue
      counted.add(settled.attempt)
      const money = found.get(turn) ?? { turn, number, ...noMoney() }
      addSettled(money, settled)
      found.set(turn, money)
    }
  return [...found.values()].sort((a, b) => a.number - b.number)
}

export function printMoney(page: Page, money: TurnMoney[]): void {
  if (money.length === 0) return
  page.blank()
  for (const one of money) {
    const versions = one.prices.length === 0 ? '' : ` (${one.prices.join(', ')})`
    page.line(0, `Money of turn ${one.number}: ${moneyText(one)}${versions}`)
  }
}
