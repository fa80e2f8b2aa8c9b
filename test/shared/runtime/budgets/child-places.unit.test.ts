// The places of children, with a ledger reader that a test decides for.

import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import type { BudgetInForce, Message } from '../../../../shared/contract/messages.ts'
import type { BudgetLog } from '../../../../shared/contract/performer.ts'
import { lowestTreeCaps } from '../../../../shared/contract/turn/tree-caps.ts'
import { type Child, childPlaces } from '../../../../shared/runtime/budgets/child-places.ts'
import type { Decision } from '../../../../shared/runtime/budgets/ledger.ts'

const caps = lowestTreeCaps(null, { depth: 2, usd: 2.5, tokens: 100, wallMs: 60_000, rounds: 9 })

const child = (fields: Partial<Child> = {}): Child => ({
  round: { conversation: 'acme:c', turn: 3, round: 1 },
  name: '["acme:c",3,1,0]',
  tree: '["acme:c",3]',
  depth: 1,
  caps: caps as NonNullable<typeof caps>,
  forMs: 1_000,
  ...fields,
})

function world(decide: (budgets: BudgetInForce[]) => Decision | undefined | Error) {
  const written: [tenant: string, Message][] = []
  const budgets = {
    append: async (tenant: string, message: Message) => void written.push([tenant, message]),
  } as unknown as BudgetLog
  const places = childPlaces(
    { budgets, clock: fakeClock(5_000), log: pino({ level: 'silent' }) },
    {
      async reserve(_, reservation) {
        written.push([reservation.tenant, reservation])
        const decision = decide(reservation.budgets)
        if (decision instanceof Error) throw decision
        return decision
      },
      join: () => ({ leave: () => {} }),
    },
  )
  return { places, written }
}

const refused =
  (unit: BudgetInForce['unit'], used: number) =>
  (budgets: BudgetInForce[]): Decision => {
    const budget = budgets.find((one) => one.unit === unit) as BudgetInForce
    return { kind: 'refused', hard: { budget, used }, soft: [] }
  }

describe('a child', () => {
  it('reserves its place under the name of its call, and gives it back once it has ended', async () => {
    const { places, written } = world(() => ({ kind: 'granted', soft: [] }))
    expect(await places.denialOf(child())).toBeUndefined()
    await places.giveBack(child())
    const own = { conversation: 'acme:c', turn: 3, round: 1, attempt: '["acme:c",3,1,0]' }
    const amounts = { children: 1, tokens: 0, usd: 0, tree: '["acme:c",3]', expiresAt: 6_000 }
    expect(written).toMatchObject([
      ['acme', { type: 'budget-reserved', ...own, ...amounts }],
      ['acme', { type: 'budget-settled', ...own, tokens: 0, priced: false }],
    ])
  })

  it.each([
    ['usd', 2.5e9, '2.5000 of 2.5000 US dollars'],
    ['tokens', 120, '120 of 100 tokens'],
    ['ms', 61_000, '61 of 60 seconds'],
    ['rounds', 9, '9 of 9 rounds'],
  ] as const)(
    'is denied if its tree has used up its %s, and the text names the use',
    async (unit, used, text) => {
      const { places } = world(refused(unit, used))
      expect(await places.denialOf(child())).toMatchObject({
        status: 'denied',
        text: `Not run: the agents of this task have used up what they share, ${text}. Start no further one. Answer with the results that you have.`,
        reason: expect.stringMatching(
          new RegExp(`^the cap tree\\..* of its agents is reached: ${text}$`),
        ),
      })
    },
  )

  it('is denied if the ledger cannot be read, and gives back a place that comes too late', async () => {
    const text =
      'Not run: Weir cannot count the agents of this task now. Do not repeat the call now. Do this part yourself, or tell the user.'
    const late = world(() => undefined)
    expect(await late.places.denialOf(child())).toMatchObject({ status: 'denied', text })
    expect(late.written.map(([, { type }]) => type)).toEqual(['budget-reserved', 'budget-released'])
    const away = world(() => new Error('the topic is missing'))
    expect(await away.places.denialOf(child())).toMatchObject({ status: 'denied', text })
  })

  it('that is judged twice at the same time reserves one place', async () => {
    const { places, written } = world(() => ({ kind: 'granted', soft: [] }))
    expect(await Promise.all([child(), child()].map(places.denialOf))).toEqual([
      undefined,
      undefined,
    ])
    expect(written).toHaveLength(1)
  })

  it('that is too deep reserves nothing', async () => {
    const { places, written } = world(() => undefined)
    expect(await places.denialOf(child({ depth: 3 }))).toMatchObject({
      status: 'denied',
      reason: 'the cap tree.depth is reached: 2',
    })
    expect(written).toEqual([])
  })
})

it('an operator lowers a cap of a tree, and never raises one', () => {
  const own = lowestTreeCaps(null, { atOnce: 3, rounds: 9 })
  expect(lowestTreeCaps(own, { atOnce: 5, rounds: 4, tokens: 10 })).toMatchObject({
    atOnce: 3,
    rounds: 4,
    tokens: 10,
    depth: null,
  })
  expect(lowestTreeCaps(null, undefined)).toBeNull()
})
