// The calls that the client of a conversation runs: offers and results as records, and the performer
// that offers them.

import { describe, expect, it } from '@jest/globals'
import { startExecutor } from '../../../../services/executor/performer/performer.ts'
import { executor } from '../../../../services/executor/reducer.ts'
import type { Agents, ValueCheck } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  CallResult,
  Declaration,
  GuardVerdict,
  Message,
  ResultSent,
  RoundExecuted,
  StopInForce,
} from '../../../../shared/contract/messages.ts'
import type { PolicyRecord } from '../../../../shared/contract/performer.ts'
import { clientOwner, keyOf } from '../../../../shared/contract/topology.ts'
import { at, given } from '../../../support/given.ts'
import { guardVerdictWith } from '../../../support/messages.ts'
import { agents, fakeTools, inbox, settled, testClock } from '../performer-world.ts'
import {
  callOf,
  cancel,
  claim,
  expiresAt,
  mail,
  ok,
  outcome,
  place,
  policy,
  roundCleared,
  tick,
} from '../samples.ts'

const hints = {
  mutates: null,
  ignoreFields: [],
  loopKey: [],
  denial: null,
  labels: [],
  client: true,
  once: null,
}
const pick: Declaration = { ...mail, name: 'pick', idempotent: true, hints }
const round = roundCleared({ calls: [callOf(0, { name: 'pick' })], declarations: [pick, mail] })
const offer = claim(clientOwner)
const until = 1_000 + pick.timeoutMs

function sent(text: string, fields: Partial<ResultSent> = {}): ResultSent {
  const end = { resultId: `id of ${text}`, isError: false, text }
  return { type: 'result-sent', ...place, round: 1, ordinal: 0, ...end, ...fields }
}

function resultsIn(messages: Message[]): CallResult[] | undefined {
  return messages.find((message): message is RoundExecuted => message.type === 'round-executed')
    ?.results
}

describe('a call of a client', () => {
  const offered = given(executor, at(900, round), at(1_000, offer))

  it('is a task to offer, never one to claim or to run', () => {
    const ready = given(executor, round)
    expect(ready.wants).toMatchObject([{ kind: 'offer', ordinal: 0, isOffered: false }])
    expect(ready.to('activity')).toEqual([])
    expect(offered.wants).toMatchObject([{ kind: 'offer', isOffered: true }])
  })

  it('is offered once, with the deadline of its tool', () => {
    const record = { type: 'call-offered', ...place, round: 1, ordinal: 0, name: 'pick', until }
    expect(offered.to('activity')).toEqual([record])
    expect(offered.due).toBe(until)
    expect(offered.when(offer).to('activity')).toEqual([])
  })

  it('has the result that its client sends, and the event names it', () => {
    const folded = offered.when(at(3_500, sent('blue')))
    expect(resultsIn(folded.to('verdict'))).toEqual([ok('blue', { durationMs: 2_500 })])
    expect(folded.to('activity')).toMatchObject([
      { type: 'call-finished', status: 'ok', result: 'blue', resultId: 'id of blue' },
    ])
  })

  it('finishes with a bounded id if the id of its result is too long', () => {
    const folded = offered.when(at(1_001, sent('blue', { resultId: 'x'.repeat(100_000) })))
    expect(folded.to('activity')).toMatchObject([
      { type: 'call-finished', resultId: 'x'.repeat(limits.messageIdBytesMax) },
    ])
  })

  it('has an error if its client reports one', () => {
    const folded = offered.when(at(1_001, sent('no camera', { isError: true })))
    expect(resultsIn(folded.to('verdict'))).toMatchObject([
      { status: 'error', text: 'no camera', reason: 'the client reported an error' },
    ])
  })

  it('keeps its first result', () => {
    const two = roundCleared({
      calls: [callOf(0, { name: 'pick' }), callOf(1, { name: 'pick' })],
      declarations: [pick],
    })
    const folded = given(executor, two, offer, claim(clientOwner, { ordinal: 1 }), sent('blue'))
    expect(folded.when(sent('red')).records).toEqual([])
    expect(resultsIn(folded.when(sent('all', { ordinal: 1 })).to('verdict'))).toMatchObject([
      { text: 'blue' },
      { text: 'all' },
    ])
  })

  it('has no result before its offer, and none of a call that an executor runs', () => {
    expect(given(executor, round).when(sent('early')).records).toEqual([])
    const mails = roundCleared({ calls: [callOf(0)], declarations: [mail] })
    expect(given(executor, mails).when(sent('forged')).records).toEqual([])
    expect(given(executor, mails, claim('a')).when(sent('forged')).records).toEqual([])
    expect(given(executor).when(sent('of no turn')).state).toBeUndefined()
  })

  it('has an unknown outcome without a result in time, also if it is idempotent', () => {
    const folded = offered.when(at(until, tick))
    expect(resultsIn(folded.to('verdict'))).toMatchObject([{ status: 'unknown' }])
    expect(folded.wants).toEqual([])
  })

  it('takes no result at its deadline, however late the tick', () => {
    expect(offered.when(at(until, sent('late'))).records).toEqual([])
    expect(resultsIn(offered.when(at(until - 1, sent('just'))).to('verdict'))).toMatchObject([
      { status: 'ok' },
    ])
  })

  it('has an unknown outcome at once if the turn is cancelled, and is skipped before its offer', () => {
    expect(resultsIn(offered.when(cancel).to('verdict'))).toMatchObject([
      { status: 'unknown', reason: 'cancelled before the client sent its result' },
    ])
    expect(resultsIn(given(executor, round).when(cancel).to('verdict'))).toMatchObject([
      { status: 'skipped' },
    ])
  })

  it('has an unknown outcome if an operator stops it now, and goes on at drain', () => {
    const stop = (mode: StopInForce['mode']) => ({
      type: 'calls-stopped' as const,
      ...place,
      round: 1,
      ordinals: [0],
      stop: { scope: 'all' as const, name: '', mode, reason: 'fire' },
    })
    expect(resultsIn(offered.when(stop('now')).to('verdict'))).toMatchObject([
      { status: 'unknown' },
    ])
    expect(offered.when(stop('drain')).records).toEqual([])
  })

  it('is not offered in an expired round', () => {
    expect(given(executor, round).when(at(expiresAt, offer)).records).toEqual([])
  })

  it('waits for its guards, and a veto keeps it from its client', () => {
    const guard = {
      name: 'shell',
      version: '1',
      tools: [{ pattern: '*', mode: 'enforce' as const }],
      onTimeout: 'deny' as const,
      deadlineMs: 1_000,
      rules: null,
    }
    const waiting = given(executor, { ...round, policy: { ...policy, guards: [guard] } })
    expect(waiting.wants).toMatchObject([{ kind: 'await-verdict' }])
    expect(waiting.when(offer).records).toEqual([])
    const said = (verdict: 'allow' | 'deny'): GuardVerdict =>
      guardVerdictWith({
        ...place,
        verdicts: [{ ordinal: 0, verdict, text: 'no', code: 'no', evidence: '' }],
        enforces: [0],
      })
    expect(waiting.when(said('allow')).wants).toMatchObject([{ kind: 'offer' }])
    expect(resultsIn(waiting.when(said('deny')).to('verdict'))).toMatchObject([
      { status: 'denied' },
    ])
  })
})

describe('the performer', () => {
  type World = { check?: ValueCheck; policies?: PolicyRecord[]; isKnown?: boolean }

  function world({ check, policies = [], isKnown = true }: World = {}) {
    const clock = testClock()
    const tools = fakeTools()
    const tool = { declaration: pick, run: { kind: 'client' as const }, ...(check && { check }) }
    const known: Agents = new Map(
      [...agents].map(([name, agent]) => [name, { ...agent, tools: isKnown ? [tool] : [] }]),
    )
    const start = startExecutor({ agents: known, run: tools.run })
    return { clock, tools, ...inbox(clock), start, options: { policies: async () => policies } }
  }

  it('offers a ready call once, and starts nothing', async () => {
    const { append, own, start, tools, outputs } = world()
    const owners = [own('a', start), own('b', start)]
    append(round)
    await settled()
    append(sent('blue'))
    await settled()
    expect(owners.flatMap(({ written }) => written)).toEqual([offer, offer])
    expect(tools.started).toEqual([])
    expect(outputs.filter(({ type }) => type === 'call-offered')).toHaveLength(1)
    expect(resultsIn(outputs)).toMatchObject([{ text: 'blue' }])
  })

  it('leaves an offered call to its client when the partition gets another owner', async () => {
    const { append, own, start, outputs } = world()
    await own('a', start).close('shutdown')
    append(round)
    own('b', start)
    await settled()
    const last = own('c', start, { formerOwnersDead: true })
    await settled()
    expect(last.written).toEqual([])
    append(sent('blue'))
    expect(resultsIn(outputs)).toMatchObject([{ text: 'blue' }])
  })

  it.each<[string, World, CallResult['status'], string]>([
    ['its tool has no such declaration here', { isKnown: false }, 'denied', 'no tool with this'],
    [
      'the check of its arguments finds a problem',
      { check: () => ({ problems: ['n is odd'] }) },
      ...(['denied', 'n is odd'] as const),
    ],
    ['the check throws', { check: () => Promise.reject(new Error('x')) }, 'error', 'its check'],
    ['an operator stopped its tool', { policies: [stopped()] }, 'denied', 'an operator stopped'],
  ])('refuses a call if %s, and never offers it', async (_, options, status, reason) => {
    const { append, own, start, outputs, options: more } = world(options)
    const owner = own('a', start, more)
    append(round)
    await settled()
    expect(owner.written).toMatchObject([claim('a'), { ...outcome('a', null), result: { status } }])
    expect(resultsIn(outputs)).toMatchObject([{ status, reason: expect.stringContaining(reason) }])
    expect(outputs.filter(({ type }) => type === 'call-offered')).toEqual([])
  })

  function stopped(): PolicyRecord {
    const message = {
      type: 'operator-stop' as const,
      scope: 'tool' as const,
      name: 'p*',
      mode: 'drain' as const,
      reason: 'fire',
      setBy: 'ops',
      setAt: 1,
    }
    return { key: keyOf(message), message, time: 1 }
  }
})
