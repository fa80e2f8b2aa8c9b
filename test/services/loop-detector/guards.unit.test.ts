import { describe, expect, it } from '@jest/globals'
import { loopDetector, slowGuardMs } from '../../../services/loop-detector/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardInForce, GuardWish, RoundChecked } from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import {
  actions,
  checked,
  executed,
  expiresAt,
  failing,
  missing,
  ok,
  one,
  place,
  times,
  toolCall,
} from './rounds.ts'

const hour = 3_600_000
const pay = toolCall('pay', { to: 'x' })

function guard(fields: Partial<GuardInForce> = {}): GuardInForce {
  return {
    name: 'approval',
    version: '1',
    tools: [{ pattern: 'pay', mode: 'enforce' }],
    deadlineMs: hour,
    onTimeout: 'deny',
    rules: null,
    ...fields,
  }
}

function guarded(
  round: number,
  guards: GuardInForce[],
  fields: Parameters<typeof checked>[1] = {},
): RoundChecked {
  return checked(round, { calls: [pay], policy: { ...defaultPolicy, guards }, ...fields })
}

describe('a round that waits for slow guards', () => {
  it('extends its turn by the longest deadline, and reports it to the conversation before the executor', () => {
    const story = given(
      loopDetector,
      guarded(1, [guard(), guard({ name: 'second', deadlineMs: 2 * hour })]),
    )
    expect(story.records.map(({ to, message }) => [to, message.type])).toEqual([
      ['activity', 'model-answered'],
      ['conversation', 'turn-extended'],
      ['tools', 'round-cleared'],
    ])
    expect(story.to('conversation')).toEqual([
      { type: 'turn-extended', ...place, round: 1, until: expiresAt + 2 * hour },
    ])
    expect(story.to('tools')).toMatchObject([{ expiresAt, extendedTo: expiresAt + 2 * hour }])
  })

  it('lasts until the longest deadline', () => {
    const story = given(loopDetector, guarded(1, [guard()]))
    expect(story.due).toBe(
      expiresAt + hour + defaultPolicy.startWithinMs + 60_000 + 2 * defaultPolicy.graceMs,
    )
  })

  it('extends a turn again in a later round, up to a bound for all rounds', () => {
    const day = guard({ deadlineMs: limits.guardDeadlineMsMax })
    const first = given(loopDetector, guarded(1, [day]))
    const until = expiresAt + limits.turnExtensionMsMax
    expect(first.to('conversation')).toMatchObject([{ until }])
    const second = first
      .when(executed(1, [ok('paid')]))
      .when(guarded(2, [day], { expiresAt: until }))
    expect(second.to('conversation')).toEqual([])
    expect(second.to('tools')).toMatchObject([{ expiresAt: until, extendedTo: null }])
  })

  it.each<[string, RoundChecked]>([
    ['guards that answer soon', guarded(1, [guard({ deadlineMs: slowGuardMs - 1 })])],
    ['a shadow guard', guarded(1, [guard({ tools: [{ pattern: '*', mode: 'shadow' }] })])],
    [
      'a guard of other tools',
      guarded(1, [guard({ tools: [{ pattern: 'exec', mode: 'enforce' }] })]),
    ],
    ['no guard', guarded(1, [])],
    [
      'a guard with decided calls only',
      guarded(1, [guard()], {
        calls: [pay, toolCall('list', {})],
        denials: [missing('amount', 0)],
      }),
    ],
  ])('does not extend its turn with %s', (_, round) => {
    const story = given(loopDetector, round)
    expect(story.to('conversation')).toEqual([])
    expect(story.to('tools')).toMatchObject([{ expiresAt, extendedTo: null }])
  })

  it('is still not cleared at the end of its turn', () => {
    expect(given(loopDetector, at(expiresAt, guarded(1, [guard()]))).to('tools')).toEqual([])
  })
})

describe('a veto', () => {
  it('is a failure: repeats lead to a nudge, then to the end', () => {
    const no = failing('vetoed by guard approval: rejected', 'denied')
    expect(actions(...times(5, one('pay', { to: 'x' }, no)))).toEqual([
      '-',
      '-',
      'nudge',
      'text_only',
      'end',
    ])
  })

  it('ends no streak, in any wording', () => {
    const same = one('look', { at: 'x' }, ok('the same'))
    const veto = (n: number) =>
      one(
        'pay',
        { to: `x${n}` },
        failing(`vetoed by guard approval: reason-${'abcdefgh'[n]}`, 'denied'),
      )
    const alone = actions(...times(8, same))
    const between = actions(
      same,
      veto(0),
      same,
      veto(1),
      same,
      veto(2),
      same,
      veto(3),
      same,
      veto(4),
      same,
      veto(5),
      same,
    )
    expect(alone.indexOf('nudge')).toBe(4)
    expect(between[8]).toBe('nudge')
  })
})

describe('a text of a guard for the model', () => {
  const fromGuard: GuardWish = {
    guard: 'secrets',
    reason: 'it looks for keys',
    text: 'Stop looking for keys.',
  }
  const executedWith = (...wishes: GuardWish[]) =>
    given(loopDetector, guarded(1, [])).when({ ...executed(1, [ok('done')]), wishes })

  it('is a nudge in the very next request, and reported to clients', () => {
    const story = executedWith(fromGuard, { ...fromGuard, guard: 'spend', text: 'Spend less.' })
    const intervention = {
      action: 'nudge',
      ordinary: false,
      rule: 'guard',
      key: 'secrets, spend',
      class: null,
      text: 'Stop looking for keys.\n\nSpend less.',
    }
    expect(story.to('conversation')).toMatchObject([{ type: 'round-outcome', intervention }])
    expect(story.to('activity')).toMatchObject([{ type: 'intervention-raised', intervention }])
  })

  it('is one more paragraph of an intervention by the detector', () => {
    const call = checked(1, { calls: [pay] })
    let story = given(loopDetector, call)
    for (const round of [1, 2])
      story = story.when(executed(round, [failing('no')])).when({ ...call, round: round + 1 })
    story = story.when({ ...executed(3, [failing('no')]), wishes: [fromGuard] })
    const [outcome] = story.to('conversation')
    expect(outcome).toMatchObject({ intervention: { rule: 'identical-failure', action: 'nudge' } })
    expect(outcome?.type === 'round-outcome' && outcome.intervention?.text).toMatch(
      /\n\nStop looking for keys\.$/,
    )
  })
})
