import { describe, expect, it } from '@jest/globals'
import { guest } from '../../../services/guest/reducer.ts'
import { guestEndedMs } from '../../../services/guest/turn.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuestCarried } from '../../../shared/contract/messages.ts'
import { newestTurn } from '../../../shared/contract/topology.ts'
import { missingRound as notes } from '../../../shared/model-texts/requests.ts'
import { at, type Folded, given } from '../../support/given.ts'
import {
  all,
  cancels,
  conversation,
  extended,
  intervention,
  names,
  only,
  outcome,
  policyWith,
  request,
  result,
  results,
  round,
  tick,
  turnFailed,
} from './samples.ts'

type Given = Folded<unknown, never, never>
const opened = given(guest, request('r0'))
const proposed = opened.when(round('a.1'))
const over = proposed.when(outcome(0, 1))
const replied = opened
  .when(round('t.1', { text: 'Done.' }))
  .when(outcome(0, 1, { text: 'Done.', calls: [] }))
const second = { turnKey: 'u2', user: 'and now?' }
const day = 24 * 60 * 60_000

/** The same history with its newest `guest-carried` after it. */
function carriedOn<T extends Pick<Given, 'records'>>(folded: T): GuestCarried {
  return only(folded.records, 'guest-carried')
}

describe('a turn that a rule and its front have ended', () => {
  const ended = proposed
    .when(outcome(0, 1, { intervention: intervention('end') }))
    .when(results('turn_end'))
  const repeat = request('r1', ['a.1'])

  it('is over at once, and each repeat of its request is ended by the same rule', () => {
    const { reason, rule } = intervention('end')
    expect(only(ended.records, 'turn-finished')).toMatchObject({ outcome: 'failed', reason })
    const again = ended.when(repeat)
    const end = { action: 'end', isOpen: false, reason, rule }
    expect(only(again.records, 'guest-advice')).toMatchObject(end)
    const later = again.when(at(50_000, repeat)).when(at(100_000, repeat))
    expect(only(later.records, 'guest-advice')).toMatchObject(end)
  })

  it('opens again for a guest that goes on a minute after its last request', () => {
    const later = ended.when(at(10 + guestEndedMs, repeat))
    expect(only(later.records, 'guest-advice')).toMatchObject({ action: 'none', isOpen: true })
    expect(all(later.when(round('b.1')).records, 'turn-started')).toHaveLength(1)
  })
})

describe('a message of the user in the middle of a turn', () => {
  const prompted = given(guest, request('r0', [], { prompt: 'u1:do' })).when(round('a.1'))
  const former = { prompt: 'u1:do', keys: ['a.1'], results: [result('a.1')] }

  it('shows the results of the calls before it, and waits for their judgement', () => {
    const steered = prompted.when(request('r1', [], { prompt: 'u2:also', former }))
    expect(only(steered.records, 'outcome').result).toMatchObject({ status: 'ok' })
    expect(all(steered.records, 'guest-advice')).toEqual([])
    const over = steered.when(outcome(0, 1))
    expect(all(over.records, 'guest-advice').map(({ requestId }) => requestId)).toEqual(['', 'r1'])
  })

  it('gets no advice before that judgement, also when another record comes meanwhile', () => {
    const steered = prompted.when(request('r1', [], { prompt: 'u2:also', former }))
    const late = steered.when(results('running', { results: [result('a.1')] }))
    expect(all(late.records, 'guest-advice')).toEqual([])
  })

  it('gives no result to a call with the same words that a repeat of its request overtakes', () => {
    const steered = prompted.when(request('r1', [], { prompt: 'u2:also', former }))
    const goesOn = steered.when(outcome(0, 1)).when(round('b.1'))
    const again = { ...former, keys: ['b.1'], results: [result('b.1')] }
    const repeated = goesOn.when(request('r2', [], { prompt: 'u2:also', former: again }))
    expect(all(repeated.records, 'outcome')).toEqual([])
  })
})

describe('a turn ends (G7)', () => {
  it('by a reply: the guest has its text, and the unit begins anew', () => {
    expect(names(replied.records)).toEqual([
      'history: history-entry',
      'activity: guest-advice',
      'verdict: turn-ended',
      'tools: turn-ended',
      'activity: turn-finished',
      'self: guest-carried',
    ])
    expect(only(replied.records, 'turn-finished')).toMatchObject({
      turn: 0,
      messageId: 'u1',
      outcome: 'answered',
      reply: 'Done.',
      cap: null,
      totals: { rounds: 1, calls: 0 },
    })
    expect(carriedOn(replied)).toMatchObject({ from: 2, turns: [], newest: { names: ['u1'] } })
  })

  it('not by a text with an intervention against it', () => {
    const text = { text: 'Again.', calls: [] }
    const repeats = opened
      .when(round('t.1', text))
      .when(outcome(0, 1, { ...text, intervention: intervention('nudge') }))
    expect(repeats.state?.turn).toBeDefined()
  })

  it('by its next turn, which opens at once and writes no guest-carried', () => {
    const next = over.when(request('r1', [], second))
    expect(names(next.records)).toEqual([
      'verdict: turn-ended',
      'tools: turn-ended',
      'activity: turn-finished',
      'history: history-entry',
      'activity: turn-started',
      'activity: guest-advice',
    ])
    expect(only(next.records, 'turn-finished')).toMatchObject({ outcome: 'cancelled', reply: '' })
    expect(only(next.records, 'turn-started')).toMatchObject({ turn: 3, messageId: 'u2' })
  })

  it('by its next turn after its outstanding round, which has gone on without results', () => {
    const waiting = proposed.when(request('r1', [], second))
    expect(names(waiting.records)).toEqual(['tools: outcome'])
    const next = waiting.when(outcome(0, 1))
    expect(all(next.records, 'turn-finished')).toHaveLength(1)
    expect(only(next.records, 'turn-started').turn).toBe(2)
    expect(next.state?.turns).toEqual(['u1'])
  })

  it('by its next turn, whose request shows the last results of the turn before', () => {
    const prompted = given(guest, request('r0', [], { prompt: 'u1:do' })).when(round('a.1'))
    const former = { prompt: 'u1:do', keys: ['a.1'], results: [result('a.1')] }
    const waiting = prompted.when(request('r1', [], { ...second, prompt: 'u2:and', former }))
    expect(only(waiting.records, 'outcome')).toMatchObject({ round: 1, result: { status: 'ok' } })
    expect(only(waiting.when(outcome(0, 1)).records, 'turn-started').turn).toBe(2)
  })

  it('by its next turn, which shows results of another turn than the one that is open', () => {
    const prompted = given(guest, request('r0', [], { prompt: 'u1:do' })).when(round('a.1'))
    const former = { prompt: 'u2:and', keys: ['a.1'], results: [result('a.1')] }
    const waiting = prompted.when(
      request('r1', [], { turnKey: 'u3', user: 'third', prompt: 'u3:third', former }),
    )
    expect(only(waiting.records, 'outcome')).toMatchObject({ result: { status: 'unseen' } })
  })

  it('by its front, after its outstanding round', () => {
    const waiting = proposed.when(results('turn_end', { requestId: 'e' }))
    expect(names(waiting.records)).toEqual(['tools: outcome'])
    const ended = waiting.when(outcome(0, 1))
    expect(names(ended.records)).toEqual([
      'history: history-entry',
      'activity: guest-advice',
      'activity: guest-advice',
      'verdict: turn-ended',
      'tools: turn-ended',
      'activity: turn-finished',
      'self: guest-carried',
    ])
  })

  it('by a front that does not know its name, after its outstanding round', () => {
    const waiting = proposed.when(results('turn_end', { turnKey: newestTurn }))
    expect(names(waiting.records)).toEqual(['tools: outcome'])
    const ended = waiting.when(outcome(0, 1))
    expect(only(ended.records, 'turn-finished').messageId).toBe('u1')
    expect(ended.state?.newest?.names).toEqual(['u1'])
    expect(ended.when(results('turn_end', { turnKey: newestTurn })).records).toEqual([])
  })

  it('as answered if its agent finished by itself, with a text that the front does not see', () => {
    const finished = results('turn_end', { answered: true })
    const ended = proposed.when(outcome(0, 1)).when(finished)
    expect(only(ended.records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      class: null,
      reply: '',
      reason: 'the agent finished its turn (the hooks do not see the text)',
    })
    expect(ended.when(finished).records).toEqual([])
    const next = ended.when(round('b.1', { turnKey: 'u2' }))
    expect(all(next.when(finished).records, 'turn-finished')).toEqual([])
  })

  it('as stopped by Weir, also if its agent then finished by itself', () => {
    const stopped = given(guest, round('a.1')).when(
      outcome(0, 1, { intervention: intervention('end') }),
    )
    const ended = stopped.when(results('turn_end', { answered: true }))
    expect(only(ended.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
    })
  })

  it('by the reason of its last advice, if that was to end it', () => {
    const ended = (of: Parameters<typeof outcome>[2]) =>
      only(
        given(guest, round('a.1', { policy: of?.policy ?? policyWith() }))
          .when(outcome(0, 1, of))
          .when(results('turn_end')).records,
        'turn-finished',
      )
    expect(ended({ intervention: intervention('end') })).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
      reason: 'the same call failed three times',
    })
    expect(ended({ tokens: 9, policy: policyWith({}, { tokens: 5 }) })).toMatchObject({
      outcome: 'capped',
      class: 'budget',
      cap: 'tokens',
    })
  })

  it('by its time limit between two rounds, and its requests end from then on', () => {
    const short = { policy: policyWith({}, { wallMs: 1_000 }) }
    const open = given(guest, request('r0', [], short))
    expect(open.due).toBe(1_001)
    const ended = open.when(at(1_001, tick))
    expect(only(ended.records, 'turn-finished')).toMatchObject({ outcome: 'capped', cap: 'wall' })
    expect(only(ended.when(request('r1')).records, 'guest-advice')).toMatchObject({
      action: 'end',
      cap: 'wall',
      isOpen: false,
      requestId: 'r1',
    })
    const late = open.when(at(2_000, round('a.1', short)))
    expect(only(late.records, 'turn-finished').cap).toBe('wall')
    expect(only(late.records, 'guest-advice')).toMatchObject({ key: 'a.1', isOpen: false })
  })

  it('when nothing comes for an hour, and its next request goes on', () => {
    expect(over.due).toBe(3 + limits.guestIdleMs)
    const ended = over.when(at(3 + limits.guestIdleMs, tick))
    expect(only(ended.records, 'turn-finished').outcome).toBe('cancelled')
    expect(only(ended.when(request('r1', ['a.1'])).records, 'guest-advice')).toMatchObject({
      action: 'none',
      isOpen: true,
      unknown: [],
    })
  })

  it('a minute after the advice to end it, unless its guest goes on', () => {
    const advised = proposed.when(outcome(0, 1, { intervention: intervention('end') }))
    const due = advised.due ?? 0
    expect(due).toBe(3 + guestEndedMs)
    const again = advised.when(request('r1', ['a.1']))
    expect(only(again.records, 'guest-advice')).toMatchObject({ action: 'end', isOpen: true })
    expect(again.due).toBeGreaterThan(due)
    expect(only(advised.when(at(due, tick)).records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
      reason: intervention('end').reason,
    })
  })

  it('with a lost round when its outcome certainly cannot come any more', () => {
    const due = proposed.due ?? 0
    expect(due).toBeGreaterThan(day)
    const ended = proposed.when(at(due, tick))
    expect(only(ended.records, 'history-entry')).toMatchObject({
      round: 1,
      note: notes.neverArrived,
    })
    expect(only(ended.records, 'turn-finished').outcome).toBe('capped')
    expect(ended.due).toBeUndefined()
  })
})

describe('a slow guard', () => {
  it('extends the time of the outstanding round and of the turn', () => {
    const longer = proposed.when(extended(0, 1, 2 * day))
    expect(longer.state?.turn?.outstanding?.expiresAt).toBe(2 * day)
    expect(proposed.when(extended(0, 2, 2 * day)).state?.turn?.allowance.extendedTo).toBe(0)
  })
})

describe('a record and its turn (GUEST-3)', () => {
  it('under another name belongs to the open turn if it names a known round', () => {
    const renamed = over.when(request('r1', ['a.1'], second))
    expect(names(renamed.records)).toEqual(['activity: guest-advice'])
    const next = renamed.when(round('b.1', { turnKey: 'u2' }))
    expect(only(next.records, 'round-proposed')).toMatchObject({ turn: 0, round: 2 })
    expect(only(next.records, 'round-started').turnKey).toBe('u2')
    const closed = next.when(outcome(0, 2)).when(request('r2', [], { turnKey: 'u3' }))
    expect(closed.state?.turns).toEqual(['u1', 'u2'])
  })

  it('under another name opens a turn if only a later round has words of a known one', () => {
    for (const former of [over, replied]) {
      const [known = ''] = former === over ? ['a.1'] : ['t.1']
      const next = former.when(request('r1', ['b.1', known], second))
      expect(only(next.records, 'turn-started')).toMatchObject({ messageId: 'u2' })
      expect(only(next.records, 'guest-advice').unknown).toEqual(['b.1', known])
    }
  })

  it('of a closed turn never counts for the open one, even with a key that it knows', () => {
    const y = over.when(request('r1', [], second)).when(round('a.1', { turnKey: 'u2' }))
    expect(y.when(results('running', { results: [result('a.1')] })).records).toEqual([])
    const late = y.when(round('a.1'))
    expect(only(late.records, 'guest-advice')).toMatchObject({ turnKey: 'u1', isOpen: false })
  })

  it('of results alone opens no turn', () => {
    const results_ = results('running', { results: [result('a.1')], turnKey: 'u9' })
    expect(given(guest, results_).state).toBeUndefined()
    expect(given(guest, results('turn_end', { requestId: 'e' })).state).toBeUndefined()
    expect(over.when(results('turn_end', { turnKey: 'u9' })).state?.turn).toBeDefined()
  })

  it('that is a request opens a closed turn again, under a further number', () => {
    const y = over.when(request('r1', [], second))
    const x = y.when(request('r2', ['a.1']))
    expect(only(x.records, 'turn-started')).toMatchObject({ turn: 4, messageId: 'u1' })
    expect(only(x.records, 'guest-advice').unknown).toEqual(['a.1'])
    expect(x.state?.turns).toEqual(['u2'])
  })
})

describe('the newest turn, when it is over', () => {
  it('answers a repeated request, and opens no turn', () => {
    const again = replied.when(request('r1', ['t.1']))
    expect(names(again.records)).toEqual(['activity: guest-advice'])
    expect(only(again.records, 'guest-advice')).toMatchObject({ unknown: [], isOpen: true })
  })

  it('opens again with a new round after a request, and keeps its rounds', () => {
    const next = replied.when(request('r1', ['t.1'])).when(round('b.1'))
    expect(only(next.records, 'turn-started')).toMatchObject({ turn: 4, messageId: 'u1' })
    expect(only(next.records, 'round-proposed')).toMatchObject({ turn: 4, round: 1 })
    const known = next.when(outcome(4, 1)).when(request('r2', ['t.1', 'b.1']))
    expect(only(known.records, 'guest-advice').unknown).toEqual([])
  })

  it('does not open again for a late round, whose front gets a reason', () => {
    const late = replied.when(round('b.1'))
    expect(names(late.records)).toEqual(['activity: guest-advice'])
    expect(only(late.records, 'guest-advice')).toMatchObject({ key: 'b.1', isOpen: false })
  })

  it('still does so when its unit has begun anew', () => {
    const anew = replied.when(carriedOn(replied))
    expect(anew.records).toEqual([])
    const next = anew.when(request('r1', ['t.1'])).when(round('b.1'))
    expect(only(next.records, 'round-proposed')).toMatchObject({ turn: 5, round: 1 })
  })

  it('stays stopped after a cancel', () => {
    const stopped = over.when(cancels('u1')).when(results('turn_end'))
    expect(only(stopped.records, 'turn-finished')).toMatchObject({
      outcome: 'cancelled',
      class: 'cancelled',
    })
    expect(only(stopped.when(request('r1', ['a.1'])).records, 'guest-advice')).toMatchObject({
      action: 'end',
      isOpen: false,
    })
  })
})

describe('a stage that failed (R8)', () => {
  const failed = proposed.when(request('r1', ['a.1'])).when(turnFailed(0))

  it('ends the turn, and answers the request that waits', () => {
    expect(names(failed.records)).toEqual([
      'history: history-entry',
      'verdict: cancel',
      'tools: cancel',
      'activity: turn-finished',
      'activity: guest-advice',
      'activity: guest-advice',
      'self: guest-carried',
    ])
    expect(only(failed.records, 'history-entry').note).toBe(notes.brokenInTheTools)
    expect(only(failed.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'internal',
    })
    expect(all(failed.records, 'guest-advice')).toMatchObject([
      { key: 'a.1', action: 'none', isOpen: false, reason: expect.stringContaining('it threw') },
      { requestId: 'r1', unknown: [], isOpen: true },
    ])
  })

  it('keeps the key of the lost round, so no front sends it again', () => {
    const next = failed.when(round('b.1'))
    expect(only(next.records, 'round-proposed')).toMatchObject({ turn: 4, round: 1 })
    expect(next.when(round('a.1')).records).toMatchObject([
      { message: { type: 'guest-advice', key: 'a.1' } },
    ])
  })

  it('with another turn changes nothing', () => {
    expect(proposed.when(turnFailed(7)).records).toEqual([])
    expect(proposed.when(turnFailed(0, 'guest')).records).toEqual([])
  })

  it('that is this stage ends the turn in the same way', () => {
    const own = proposed.whenFails(round('b.1'))
    expect(names(own.records)).toEqual([
      'history: history-entry',
      'verdict: cancel',
      'tools: cancel',
      'activity: turn-finished',
      'activity: guest-advice',
      'self: guest-carried',
    ])
    expect(own.state?.pending).toEqual([])
    expect(given(guest).whenFails(round('a.1')).state).toBeUndefined()
    expect(replied.whenFails(round('b.1')).records).toEqual([])
  })
})

describe('a unit (GUEST-4)', () => {
  it('begins anew by a guest-carried without a later record', () => {
    const anew = replied.when(carriedOn(replied))
    expect(anew.state).toMatchObject({ turns: [], newest: { names: ['u1'] }, carrying: false })
  })

  it('writes it again if a record came meanwhile, with the present state', () => {
    const later = replied.when(request('r1', ['t.1'])).when(carriedOn(replied))
    expect(carriedOn(later)).toMatchObject({ from: 4, newest: { reopens: true } })
  })

  it('writes none again while a turn is open', () => {
    const open = replied.when(request('r1', [], second)).when(carriedOn(replied))
    expect(open.records).toEqual([])
    expect(open.state?.carrying).toBe(false)
  })

  it('ends after ten idle minutes', () => {
    const anew = replied.when(carriedOn(replied))
    expect(anew.due).toBe(4 + limits.conversationIdleMs)
    const ending = anew.when(at(4 + limits.conversationIdleMs, tick))
    expect(carriedOn(ending)).toMatchObject({ turns: null, newest: null })
    expect(ending.when(carriedOn(ending)).state).toBeUndefined()
  })

  it('begins anew after a day between two rounds, and drops records until then (G11)', () => {
    const newer = given(guest, at(day, request('r0'))).when(
      at(1.5 * day, request('r1', [], second)),
    )
    const old = newer.when(at(2 * day - 1, round('a.1', second))).when(at(2 * day, outcome(1, 1)))
    expect(all(old.records, 'turn-finished')).toHaveLength(1)
    expect(carriedOn(old)).toMatchObject({ turns: ['u1'], newest: { names: ['u2'] } })
    const dropped = old.when(at(2 * day + 1, request('r2', ['a.1'], second)))
    expect(dropped.records).toEqual([])
    const again = dropped.when(at(2 * day + 2, carriedOn(old)))
    const anew = again.when(at(2 * day + 3, carriedOn(again)))
    const next = anew
      .when(at(2 * day + 4, request('r3', ['a.1'], second)))
      .when(round('b.1', second))
    expect(only(next.records, 'round-proposed')).toMatchObject({ conversation, round: 1 })
  })
})
