import { describe, expect, it } from '@jest/globals'
import { executor } from '../../../../services/executor/reducer.ts'
import type {
  CallVerdict,
  GuardInForce,
  GuardVerdict,
  RoundCleared,
  VerdictKind,
} from '../../../../shared/contract/messages.ts'
import { at, given } from '../../../support/given.ts'
import { guardVerdictWith } from '../../../support/messages.ts'
import { callOf, cancel, place, policy, roundCleared, tick } from '../samples.ts'

const clearedAt = 1_000
const deadlineMs = 600_000

function guard(name: string, fields: Partial<GuardInForce> = {}): GuardInForce {
  const tools = [{ pattern: 'mail', mode: 'enforce' as const }]
  return {
    name,
    version: '1',
    tools,
    deadlineMs,
    onTimeout: 'deny',
    rules: name === 'approval' ? '[…]' : null,
    ...fields,
  }
}

function cleared(guards: GuardInForce[], fields: Partial<RoundCleared> = {}) {
  return given(executor, at(clearedAt, roundCleared({ policy: { ...policy, guards }, ...fields })))
}

function verdict(by: string, ...verdicts: [VerdictKind, number][]): GuardVerdict {
  const said = verdicts.map(
    ([verdict, ordinal]): CallVerdict => ({
      ordinal,
      verdict,
      code: 'c',
      text: 't',
      evidence: null,
    }),
  )
  return guardVerdictWith({
    ...place,
    guard: by,
    verdicts: said,
    clearedAt,
    enforces: [0],
    deadlineMs,
  })
}

const two = { calls: [callOf(0), callOf(1, { raw: '{"n": 1.0}' }), callOf(2, { name: 'look' })] }
const waiting = cleared([guard('approval'), guard('shell')], two)

describe('calls that wait for the approval guard', () => {
  it('are sent for approval with the exact bytes that the tool would get and the rules of their round', () => {
    expect(waiting.to('person')).toEqual([
      {
        type: 'approval-asked',
        input: 0,
        ...place,
        round: 1,
        agent: 'agent',
        rules: '[…]',
        version: '1',
        calls: [
          {
            ordinal: 0,
            name: 'mail',
            arguments: '{"n":0}',
            source: null,
            program: null,
            requested: null,
            question: null,
          },
          {
            ordinal: 1,
            name: 'mail',
            arguments: '{"n": 1.0}',
            source: null,
            program: null,
            requested: null,
            question: null,
          },
        ],
        clearedAt,
        deadlineMs,
        until: clearedAt + deadlineMs,
      },
    ])
  })

  it('are marked if the model wrote them as text', () => {
    const calls = [callOf(0, { source: 'text' }), callOf(1)]
    expect(cleared([guard('approval')], { calls }).to('person')).toMatchObject([
      { calls: [{ source: 'text' }, { source: null }] },
    ])
  })

  it('stay open for approval no longer than the turn lasts', () => {
    expect(cleared([guard('approval')], { expiresAt: 5_000 }).to('person')).toMatchObject([
      { until: 5_000 },
    ])
  })

  it('are not sent for approval in shadow mode, or without such a guard', () => {
    const shadow = guard('approval', { tools: [{ pattern: 'mail', mode: 'shadow' }] })
    expect(cleared([shadow, guard('shell')], two).to('person')).toEqual([])
  })

  it('are withdrawn when another guard vetoes them, and no others are', () => {
    const vetoed = waiting.when(verdict('shell', ['deny', 0], ['allow', 1]))
    expect(vetoed.to('person')).toEqual([
      {
        type: 'approval-withdrawn',
        input: 0,
        ...place,
        round: 1,
        calls: [{ ordinal: 0, reason: 'vetoed by guard shell: c' }],
      },
    ])
    expect(vetoed.when(verdict('approval', ['allow', 0], ['allow', 1])).to('person')).toEqual([])
  })

  it('are withdrawn once when the turn is cancelled', () => {
    const cancelled = waiting.when(cancel)
    expect(cancelled.to('person')).toMatchObject([
      { type: 'approval-withdrawn', calls: [{ ordinal: 0 }, { ordinal: 1 }] },
    ])
    expect(cancelled.when(cancel).to('person')).toEqual([])
  })

  it('are withdrawn when the guard was silent', () => {
    expect(waiting.when(at(clearedAt + deadlineMs, tick)).to('person')).toMatchObject([
      {
        calls: [0, 1].map((ordinal) => ({
          ordinal,
          reason: 'vetoed by guard approval: guard.silent',
        })),
      },
    ])
  })

  it('are withdrawn when the executor fails on another record of their turn, and no others', () => {
    const reason = 'an internal failure ended its turn'
    const failed = waiting.when(verdict('shell', ['deny', 0], ['allow', 1])).whenFails(cancel)
    expect(failed.state).toBeUndefined()
    expect(failed.records).toEqual([
      {
        to: 'person',
        message: {
          type: 'approval-withdrawn',
          input: 0,
          ...place,
          round: 1,
          calls: [{ ordinal: 1, reason }],
        },
      },
    ])
    expect(
      waiting.when(verdict('approval', ['allow', 0], ['allow', 1])).whenFails(cancel).records,
    ).toEqual([])
    expect(given(executor).whenFails(cancel).records).toEqual([])
  })

  it('are not withdrawn when the guard has answered', () => {
    const answered = waiting.when(verdict('approval', ['allow', 0], ['deny', 1]))
    expect(answered.all.filter(({ to }) => to === 'person')).toHaveLength(1)
    expect(answered.when(verdict('shell', ['deny', 0], ['deny', 1])).to('person')).toEqual([])
  })
})

describe('a guard that requests approval', () => {
  const onRequest = guard('approval', {
    rules: JSON.stringify([{ name: 'on request', tools: ['mail'], when: 'requested' }]),
  })
  const approved = (ordinal: number): GuardVerdict => {
    const { verdicts, ...rest } = verdict('approval', ['allow', ordinal])
    return {
      ...rest,
      verdicts: verdicts.map((one) => ({ ...one, code: 'approval.allowed' })),
    }
  }
  const one = cleared([onRequest, guard('flow')], { calls: [callOf(0)] })

  it('is awaited before a person sees the call', () => {
    expect(one.to('person')).toEqual([])
    expect(one.when(verdict('flow', ['ask', 0])).to('person')).toMatchObject([
      { type: 'approval-asked', calls: [{ ordinal: 0, requested: 'guard flow: t' }] },
    ])
  })

  it('sends each approval once', () => {
    const sent = one.when(verdict('flow', ['ask', 0]))
    expect(sent.when(verdict('flow', ['ask', 0])).to('person')).toEqual([])
  })

  it('lets other calls pass without a request', () => {
    const both = cleared([onRequest, guard('flow')], { calls: [callOf(0), callOf(1)] })
    expect(both.when(verdict('flow', ['ask', 0], ['allow', 1])).to('person')).toMatchObject([
      { calls: [{ requested: 'guard flow: t' }, { requested: null, question: null }] },
    ])
  })

  it('lets the call run after the approval, and not before', () => {
    const sent = one.when(verdict('flow', ['ask', 0]))
    const phase = ({ state }: typeof one) => state?.rounds[0]?.calls[0]?.phase.kind
    expect(phase(sent)).toBe('waiting')
    expect(phase(sent.when(approved(0)))).toBe('ready')
    expect(sent.when(approved(0)).to('activity')).toMatchObject([
      { type: 'guard-verdict-given', verdicts: [{ verdict: 'allow' }] },
    ])
  })

  it('vetoes the call if the approval guard passed it without a person', () => {
    const passed = one.when(verdict('flow', ['ask', 0])).when(verdict('approval', ['allow', 0]))
    expect(passed.to('verdict')).toMatchObject([
      {
        results: [{ status: 'denied', reason: 'vetoed by guard approval: approval.not-requested' }],
      },
    ])
  })

  it('vetoes the call at once if no approval rule is for its tool', () => {
    const alone = cleared([guard('flow')], { calls: [callOf(0)] })
    const vetoed = alone.when(verdict('flow', ['ask', 0]))
    expect(vetoed.to('verdict')).toMatchObject([
      { results: [{ status: 'denied', reason: 'vetoed by guard flow: c' }] },
    ])
    expect(vetoed.to('activity')).toContainEqual(
      expect.objectContaining({
        type: 'guard-verdict-given',
        verdicts: [expect.objectContaining({ verdict: 'deny' })],
      }),
    )
  })

  it('changes nothing for a call that a person has approved already', () => {
    const always = cleared([guard('approval'), guard('flow')], { calls: [callOf(0)] })
    const late = always.when(approved(0)).when(verdict('flow', ['ask', 0]))
    expect(late.state?.rounds[0]?.calls[0]?.phase.kind).toBe('ready')
  })

  it('sends nothing to a person for a call that another guard denies', () => {
    const three = cleared([onRequest, guard('flow'), guard('shell')], { calls: [callOf(0)] })
    const rejected = three.when(verdict('flow', ['ask', 0])).when(verdict('shell', ['deny', 0]))
    expect(rejected.to('person')).toEqual([])
  })

  // The answer on the calls that the person saw was unusable, so the approved call never ran.
  it('lets an allowed call run next to one that another guard denied before', () => {
    const both = cleared([onRequest, guard('flow')], { calls: [callOf(0), callOf(1)] })
    const sent = both.when(verdict('flow', ['ask', 0], ['deny', 1]))
    expect(sent.to('person')).toMatchObject([{ calls: [{ ordinal: 0 }] }])
    const phases = sent.when(approved(0)).state?.rounds[0]?.calls.map(({ phase }) => phase.kind)
    expect(phases).toEqual(['ready', 'done'])
  })
})
