import { describe, expect, it } from '@jest/globals'
import { defaultPolicy } from '../../../../shared/agents/policy/policy.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message, OperatorStop } from '../../../../shared/contract/messages.ts'
import { keyOf, stopId } from '../../../../shared/contract/topology.ts'
import { stopOfCall, stopOfTurn, stopReason } from '../../../../shared/runtime/settings/stops.ts'
import { stopsInForce, withStops } from '../../../../shared/runtime/settings/stops-in-force.ts'

const target = { agent: 'bank', conversation: 'c', calledBy: [], parent: null }

function stop(fields: Partial<OperatorStop> = {}): OperatorStop {
  return {
    type: 'operator-stop',
    scope: 'all',
    name: '',
    mode: 'drain',
    reason: 'why',
    setBy: 'anna',
    setAt: 1,
    ...fields,
  }
}

function inForce(...messages: Message[]) {
  return stopsInForce(
    messages.map((message) => ({ key: keyOf(message), message, time: 0 })),
    target,
  )
}

function known(...messages: OperatorStop[]) {
  const stops = inForce(...messages)
  if (typeof stops === 'string') throw new Error(stops)
  return stops
}

describe('the stops of a turn', () => {
  it('include the stop of its tenant, and none of another tenant', () => {
    const stops = [
      stop({ scope: 'tenant', name: 'acme' }),
      stop({ scope: 'tenant', name: 'default' }),
    ]
    const idsFor = (conversation: string) => {
      const records = stops.map((message) => ({ key: keyOf(message), message, time: 0 }))
      const found = stopsInForce(records, { ...target, conversation })
      return typeof found === 'string' ? found : found.map(stopId)
    }
    expect(idsFor('acme:c')).toEqual(['tenant:acme'])
    expect(idsFor('call/acme:c')).toEqual(['tenant:acme'])
    expect(idsFor('c')).toEqual(['tenant:default'])
    const [first] = known(stop({ scope: 'tenant', name: 'default' }))
    expect(first && stopOfTurn([first])).toEqual(first)
    expect(first && stopReason(first)).toBe('an operator stopped tenant "default": why')
  })

  it('of a conversation are those of the agents that its calls ask, however deep', () => {
    const message = stop({ scope: 'conversation', name: 'c' })
    const record = { key: keyOf(message), message, time: 0 }
    const idsIn = (conversation: string) => {
      const found = stopsInForce([record], {
        agent: 'sub',
        conversation,
        calledBy: null,
        parent: null,
      })
      return typeof found === 'string' ? found : found.map(stopId)
    }
    for (const conversation of ['c', 'call/c/0/1/0', 'call/c/0/1/0~3', 'call/call/c/0/1/0/2/3/0'])
      expect(idsIn(conversation)).toEqual(['conversation:c'])
    for (const conversation of ['d', 'call/d/0/1/0', 'call/c', 'call/xc/0/1/0'])
      expect(idsIn(conversation)).toEqual([])
  })

  it('of a conversation are those of the guests in its tree', () => {
    const stops = ['guest:coder:s', 'guest:coder:s:a'].map((name) =>
      stop({ scope: 'conversation', name }),
    )
    const records = stops.map((message) => ({ key: keyOf(message), message, time: 0 }))
    const of = (parent: string | null) => {
      const place = {
        conversation: 'guest:coder:s:b',
        parent: { root: 'guest:coder:s', conversation: parent },
      }
      const found = stopsInForce(records, { ...target, ...place })
      return typeof found === 'string' ? found : found.map(({ name }) => name)
    }
    expect(of(null)).toEqual(['guest:coder:s'])
    expect(of('guest:coder:s:a')).toEqual(['guest:coder:s', 'guest:coder:s:a'])
  })

  it('include those of the agents whose calls led to it', () => {
    const message = stop({ scope: 'agent', name: 'boss' })
    const records = [{ key: keyOf(message), message, time: 0 }]
    const called = { ...target, calledBy: ['clerk', 'boss'] }
    expect(stopsInForce(records, called)).toMatchObject([{ scope: 'agent', name: 'boss' }])
    expect(stopsInForce(records, target)).toEqual([])
  })

  it('are those of all, of its agent, of its conversation and of tools', () => {
    const stops = known(
      stop(),
      stop({ scope: 'agent', name: 'bank' }),
      stop({ scope: 'agent', name: 'other' }),
      stop({ scope: 'tool', name: 'pay_*' }),
      stop({ scope: 'conversation', name: 'c' }),
      stop({ scope: 'conversation', name: 'd' }),
    )
    expect(stops.map(stopId)).toEqual(['all', 'agent:bank', 'tool:pay_*', 'conversation:c'])
  })

  it('cannot be known if one of them is another record, or if there are too many', () => {
    const strange: Message = { type: 'operator-limits', caps: defaultPolicy.caps }
    expect(stopsInForce([{ key: 'stop:all', message: strange, time: 0 }], target)).toMatch(
      /is a operator-limits; remove it with weir release/,
    )
    const many = Array.from({ length: limits.stopsMax + 1 }, (_, n) =>
      stop({ scope: 'tool', name: `t${n}` }),
    )
    expect(inForce(...many)).toMatch(/at most 64 are taken/)
  })

  it('stop its model requests unless they are of tools only', () => {
    const tools = known(stop({ scope: 'tool', name: '*' }))
    expect(stopOfTurn(tools)).toBeUndefined()
    expect(stopOfCall(tools, 'pay')).toMatchObject({ scope: 'tool' })
    expect(stopOfTurn(known(stop({ scope: 'agent', name: 'bank' })))).toMatchObject({
      scope: 'agent',
    })
  })

  it('count at now if one of them is at now', () => {
    const stops = known(stop(), stop({ scope: 'agent', name: 'bank', mode: 'now' }))
    expect(stopOfTurn(stops)?.mode).toBe('now')
  })

  it('are named with their reason, within the limit of a reason', () => {
    const [one] = known(stop({ scope: 'agent', name: 'bank', reason: 'x'.repeat(2_000) }))
    const text = one === undefined ? '' : stopReason(one)
    expect(text).toMatch(/^an operator stopped agent "bank": xxx/)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.reasonBytesMax)
  })

  it('give the policy another version, and none leaves the policy as it is', () => {
    expect(withStops(defaultPolicy, [])).toBe(defaultPolicy)
    const stopped = withStops(defaultPolicy, known(stop()))
    expect(stopped.version).not.toBe(defaultPolicy.version)
    expect(withStops(stopped, [])).toEqual(defaultPolicy)
  })
})
