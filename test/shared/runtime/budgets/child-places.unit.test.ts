// The reservations of calls, with a ledger reader that a test decides for.

import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import type {
  BudgetInForce,
  BudgetReserved,
  GuardMode,
  Message,
} from '../../../../shared/contract/messages.ts'
import type { BudgetLog } from '../../../../shared/contract/performer.ts'
import { lowestTreeCaps } from '../../../../shared/contract/turn/tree-caps.ts'
import {
  callReservations,
  sharedByRepeats,
} from '../../../../shared/runtime/budgets/call-reservations.ts'
import { type Child, childPlaces } from '../../../../shared/runtime/budgets/child-places.ts'
import {
  applyToLedger,
  type Decision,
  emptyLedger,
  type LedgerRecord,
} from '../../../../shared/runtime/budgets/ledger.ts'
import { type OnceCall, onceValues } from '../../../../shared/runtime/budgets/once-values.ts'
import { declarationWith, noHints } from '../../../support/messages.ts'

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

function world(
  decide: (budgets: BudgetInForce[]) => Decision | undefined | Error | Promise<Decision>,
) {
  const written: [tenant: string, Message][] = []
  const budgets = {
    append: async (tenant: string, message: Message) => void written.push([tenant, message]),
  } as unknown as BudgetLog
  const reservations = callReservations(
    { budgets, clock: fakeClock(5_000), log: pino({ level: 'silent' }) },
    {
      async reserve(_, reservation) {
        written.push([reservation.tenant, reservation])
        const decision = await decide(reservation.budgets)
        if (decision instanceof Error) throw decision
        return decision
      },
    },
  )
  const [places, once] = [childPlaces(reservations), onceValues(reservations)]
  const shared = childPlaces(sharedByRepeats(reservations))
  return { places, shared, once, written }
}

const refused =
  (unit: BudgetInForce['unit'], used: number) =>
  (budgets: BudgetInForce[]): Decision => {
    const budget = budgets.find((one) => one.unit === unit) as BudgetInForce
    return { kind: 'refused', hard: { budget, used }, soft: [] }
  }

describe('a child', () => {
  it("reserves a place under the call's name, and gives the place back at the end", async () => {
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
    ['usd', 2.5e9, '2.5000 of 2.5000 US dollars', ' are used or reserved'],
    ['tokens', 120, '120 of 100 tokens', ' are used or reserved'],
    ['ms', 61_000, '61 of 60 seconds', ''],
    ['rounds', 9, '9 of 9 rounds', ''],
  ] as const)(
    'is denied if its tree has used up its %s, and the text names the use',
    async (unit, used, text, reserved) => {
      const { places } = world(refused(unit, used))
      expect(await places.denialOf(child())).toMatchObject({
        status: 'denied',
        text: `Not run: the agents of this task have used up what they share, ${text}. Start no further one. Answer with the results that you have.`,
        reason: expect.stringMatching(
          new RegExp(`^the cap tree\\..* of its agents is reached: ${text}${reserved}$`),
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

  it('of a guest that is judged twice at the same time reserves one place', async () => {
    const { shared, written } = world(() => ({ kind: 'granted', soft: [] }))
    expect(await Promise.all([child(), child()].map(shared.denialOf))).toEqual([
      undefined,
      undefined,
    ])
    expect(written).toHaveLength(1)
  })

  it('reserves for each try, so the release of a try that waits for the ledger leaves the next try its place', async () => {
    const granted = Promise.withResolvers<Decision>()
    const { places, written } = world(() => granted.promise)
    const tries = [child(), child()].map(places.denialOf)
    granted.resolve({ kind: 'granted', soft: [] })
    expect(await Promise.all(tries)).toEqual([undefined, undefined])
    await places.giveBack(child(), true)
    const ledger = emptyLedger()
    for (const [, message] of written) applyToLedger(ledger, message as LedgerRecord, 5_000)
    expect([...ledger.open.values()].map((held) => held.tries)).toEqual([1])
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

describe('a call that must not run twice in its tenant', () => {
  const call = (raw = '{"invoice":7}', at: Partial<OnceCall> = {}): OnceCall => ({
    conversation: 'acme:c',
    turn: 3,
    round: 1,
    ordinal: 0,
    declaration: declarationWith({
      name: 'pay',
      hints: { ...noHints, once: { by: ['invoice'], forMs: 60_000, within: 'tenant' } },
    }),
    arguments: raw,
    guards: [guardOnce('enforce')],
    forMs: 1_000,
    ...at,
  })
  const guardOnce = (mode: GuardMode) => ({
    name: 'once',
    version: '1',
    tools: [{ pattern: '*', mode }],
    deadlineMs: 1,
    onTimeout: 'deny' as const,
    rules: null,
  })
  const granted = () => ({ kind: 'granted' as const, soft: [] })

  it('reserves a hash of its values, which differs for each tenant, tool and value', async () => {
    const { once, written } = world(granted)
    const notes = call('{ "note": "urgent", "invoice": 7 }')
    const others = [
      call('{"invoice":8}'),
      call(undefined, { conversation: 'globex:c' }),
      call(undefined, { declaration: { ...call().declaration, name: 'refund' } }),
    ]
    for (const one of [call(), notes, ...others]) expect(await once.denialOf(one)).toBeUndefined()
    const hashes = written.map(([, message]) => (message as BudgetReserved).once?.hash)
    expect(hashes[1]).toBe(hashes[0])
    expect(new Set(hashes).size).toBe(4)
    expect(JSON.stringify(written)).not.toMatch(/urgent|invoice/)
    expect(written[0]).toMatchObject([
      'acme',
      { attempt: 'once ["acme:c",3,1,0]', expiresAt: 6_000, once: { forMs: 60_000 } },
    ])
  })

  it.each([
    ['done', 'once.done', /ran already, at 1970-01-01T00:00:09.000Z in another conversation/],
    ['open', 'once.open', /has no result yet/],
    ['unknown', 'once.may-have-run', /may have run, and nobody knows its end/],
  ] as const)(
    'is denied if an equal call is %s, with its time for the model and its place for a person',
    async (status, code, text) => {
      const earlier = { conversation: 'acme:other', turn: 9, call: 'once ["acme:other",9,2,1]' }
      const equal = { ...earlier, since: 9_000, status }
      const { once } = world(() => ({ kind: 'equal', call: equal }))
      expect(await once.denialOf(call())).toMatchObject({
        status: 'denied',
        guard: 'once',
        text: expect.stringMatching(text),
        reason: `vetoed by guard once: ${code} (call 1 in round 2 of the turn at offset 9 of acme:other)`,
      })
    },
  )

  it('is denied if the table is full or cannot be read', async () => {
    const full = world(() => ({ kind: 'full' }))
    expect(await full.once.denialOf(call())).toMatchObject({
      reason: 'vetoed by guard once: once.full',
    })
    const away = world(() => new Error('the topic is missing'))
    expect(await away.once.denialOf(call())).toMatchObject({
      reason: 'vetoed by guard once: once.unread',
    })
  })

  it('frees its values if it had no effect, keeps them if it ran, and lets an unknown end expire', async () => {
    const { once, written } = world(granted)
    for (const status of ['ok', 'error', 'denied', 'skipped', 'unknown', 'timed_out'] as const)
      await once.ended(call(), status)
    expect(written.map(([, { type }]) => type)).toEqual([
      'budget-settled',
      'budget-released',
      'budget-released',
      'budget-released',
    ])
  })

  it('needs the guard once to enforce, so a shadow only reports within a conversation', () => {
    const { once } = world(granted)
    expect(once.concerns(call())).toBe(true)
    expect(once.concerns(call('', { guards: [guardOnce('shadow')] }))).toBe(false)
    const own = declarationWith({ name: 'pay' })
    expect(once.concerns(call('', { declaration: own }))).toBe(false)
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
