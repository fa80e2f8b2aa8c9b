import { describe, expect, it } from '@jest/globals'
import { heldVerdicts, strictestOf } from '../../../../apps/http/fronts/held-verdicts.ts'
import type { CallVerdict, GuestAnswer } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'

const answer: GuestAnswer = { request: { format: 'anthropic', body: {} }, answer: {} }
const approval = { id: 'a1', hash: 'h', until: 0 }

/** Verdicts by look, from 1. `waits`: the time that each look may take. */
function scripted(verdictsAt: (look: number) => CallVerdict[]) {
  const waits: number[] = []
  const conversation = {
    async afterModel(_: unknown, { waitMs = 0 } = {}) {
      waits.push(waitMs)
      return verdictsAt(waits.length)
    },
  } as unknown as Parameters<typeof heldVerdicts>[0]
  return { waits, conversation }
}

function call(callId: string, verdict: CallVerdict['verdict'], more = {}): CallVerdict {
  return { callId, name: 'search', verdict, text: '', code: '', ...more }
}

const persons = (callId: string) => call(callId, 'pending', { approval })
const sum = (waits: number[]) => waits.reduce((all, waitMs) => all + waitMs, 0)

describe('verdicts on calls that are held one by one', () => {
  it('let a call run that a person allows after a minute, while its neighbour waits on', async () => {
    const { waits, conversation } = scripted((look) => [
      look < 40 ? persons('c1') : call('c1', 'allow'),
      persons('c2'),
    ])
    const held = heldVerdicts(conversation, answer)
    expect(await held.last(0)).toMatchObject({ callId: 'c1', verdict: 'allow' })
    expect(waits).toHaveLength(40)
    expect(Math.max(...waits)).toBe(8_000)
  })

  it('are requested once, and by all calls that wait together', async () => {
    const { waits, conversation } = scripted((look) =>
      look < 3 ? [persons('c1'), persons('c2')] : [call('c1', 'allow'), call('c2', 'deny')],
    )
    const held = heldVerdicts(conversation, Promise.resolve(answer))
    expect(await Promise.all([held.last(0), held.last(1)])).toMatchObject([
      { verdict: 'allow' },
      { verdict: 'deny' },
    ])
    expect(waits).toHaveLength(3)
  })

  it('wait in one look for the only call that a person decides', async () => {
    const { waits, conversation } = scripted((look) =>
      look < 3 ? [persons('c1')] : [call('c1', 'allow')],
    )
    await heldVerdicts(conversation, answer).last(0)
    expect(waits.slice(1)).toEqual([limits.guestHoldMs, limits.guestHoldMs])
  })

  it('wait in one look for a slow guard on the only call, if nobody has to know a person', async () => {
    const { waits, conversation } = scripted(() => [call('c1', 'pending')])
    await heldVerdicts(conversation, answer, limits.guestHoldMs).last(0)
    expect(waits).toEqual([250, limits.guestHoldMs - 250])
  })

  it('are given with the stops of the moment at which a front takes them', async () => {
    const { waits, conversation } = scripted(() => [call('c1', 'allow')])
    let isStopped = false
    const denied = call('c1', 'deny', { code: 'operator.stopped' })
    const held = heldVerdicts(
      { ...conversation, verdictNow: async (verdict) => (isStopped ? denied : verdict) },
      answer,
    )
    expect(await held.first(0)).toMatchObject({ verdict: 'allow' })
    isStopped = true
    expect(await held.first(0)).toBe(denied)
    expect(await held.last(0)).toBe(denied)
    expect(waits).toHaveLength(1)
  })

  it('name the person whom a call waits for before the end of the wait', async () => {
    const { conversation } = scripted((look) => [
      look === 1 ? call('c1', 'pending') : persons('c1'),
    ])
    expect(await heldVerdicts(conversation, answer).first(0)).toEqual(persons('c1'))
  })

  it.each([
    ['a guard', () => [call('c1', 'pending')], undefined],
    ['a person, for a host that waits no longer', () => [persons('c1')], limits.guestHoldMs],
  ])('end undecided after ten minutes of waiting for %s', async (_, verdicts, personsMs) => {
    const { waits, conversation } = scripted(verdicts)
    const held = heldVerdicts(conversation, answer, personsMs)
    expect(await held.last(0)).toBeUndefined()
    expect(sum(waits)).toBe(limits.guestHoldMs)
  })

  it('fail for each call that waits, and are requested again by the next one', async () => {
    const { conversation } = scripted((look) => {
      if (look === 1) throw new Error('the log is away')
      return [call('c1', 'allow')]
    })
    const held = heldVerdicts(conversation, answer)
    await expect(held.last(0)).rejects.toThrow('the log is away')
    expect(await held.last(0)).toMatchObject({ verdict: 'allow' })
  })
})

describe('the strictest verdict on calls with one id', () => {
  const of = (...verdicts: (CallVerdict | undefined)[]) =>
    strictestOf(
      { last: async (at) => verdicts[at] },
      verdicts.map((_, at) => at),
    )

  it('is a denial, also next to an undecided call', async () => {
    expect(await of(call('c1', 'allow'), undefined, call('c1', 'deny'))).toMatchObject({
      verdict: 'deny',
    })
  })

  it('is undecided if one call is undecided and all others may run', async () => {
    expect(await of(call('c1', 'allow'), undefined)).toBeUndefined()
  })

  it('allows the calls if all may run', async () => {
    expect(await of(call('c1', 'allow'), call('c1', 'allow'))).toMatchObject({ verdict: 'allow' })
  })
})
