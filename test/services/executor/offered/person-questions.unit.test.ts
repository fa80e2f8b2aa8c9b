// Questions of running tools to a person: as records of the executor, and at the tool.

import { describe, expect, it } from '@jest/globals'
import { toolQuestions } from '../../../../services/executor/performer/tool-questions.ts'
import { executor } from '../../../../services/executor/reducer.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  InputGiven,
  InputRequested,
  RoundExecuted,
  StopInForce,
} from '../../../../shared/contract/messages.ts'
import { at, given } from '../../../support/given.ts'
import { testClock } from '../performer-world.ts'
import {
  callOf,
  cancel,
  claim,
  claimMs,
  lapsed,
  look,
  ok,
  outcome,
  place,
  roundCleared,
  tick,
} from '../samples.ts'

const question = '{"server":"s","message":"m","mode":"url","url":"https://x"}'
const seat = { answer: 'accept' as const, values: '{"seat":"aisle"}' }

function requested(fields: Partial<InputRequested> = {}): InputRequested {
  return {
    type: 'input-requested',
    ...place,
    round: 1,
    ordinal: 0,
    try: 1,
    owner: 'o',
    number: 1,
    question,
    waitMs: 20_000,
    ...fields,
  }
}

function answered(fields: Partial<InputGiven> = {}): InputGiven {
  return { type: 'input-given', ...place, round: 1, ordinal: 0, input: 1, ...seat, ...fields }
}

const running = given(executor, at(900, roundCleared()), at(1_000, claim('o')))
const asked = running.when(at(2_000, requested()))
const withdrawn = [
  {
    type: 'approval-withdrawn',
    ...place,
    round: 1,
    input: 1,
    calls: [{ ordinal: 0, reason: 'its call needs no answer any more' }],
  },
]

describe('a question of a running tool', () => {
  it('goes to the approval stage with the call and the end of its wait', () => {
    expect(asked.to('person')).toEqual([
      {
        type: 'approval-asked',
        ...place,
        round: 1,
        input: 1,
        agent: 'agent',
        rules: '',
        version: '',
        clearedAt: 2_000,
        deadlineMs: 20_000,
        until: 22_000,
        calls: [
          {
            ordinal: 0,
            name: 'mail',
            arguments: '{"n":0}',
            question,
            source: null,
            program: null,
            requested: null,
          },
        ],
      },
    ])
  })

  it('lets the relay wait for its answer, next to the running call', () => {
    expect(asked.wants).toMatchObject([
      { kind: 'await-verdict', guard: 'approval', since: 2_000, calls: [], input: 1 },
      { kind: 'run', owner: 'o', answer: undefined },
    ])
  })

  it('gets its first answer, and the call stays claimed', () => {
    const over = asked.when(answered()).when(answered({ answer: 'decline', values: '' }))
    expect(over.wants).toMatchObject([{ kind: 'run', answer: { number: 1, ...seat } }])
    expect(over.to('person')).toEqual([])
    expect(over.to('verdict')).toEqual([])
    expect(over.due).toBe(1_000 + claimMs)
  })

  it('never waits longer than the claim of its call', () => {
    const long = running.when(at(2_000, requested({ waitMs: 10 * claimMs })))
    expect(long.to('person')).toMatchObject([{ until: 1_000 + claimMs }])
  })

  it.each([
    ['of another owner', { owner: 'zombie' }],
    ['of another try', { try: 2 }],
    ['of a call that is not there', { ordinal: 7 }],
    ['beyond the limit', { number: limits.inputsOfTryMax + 1 }],
  ])('counts for nothing if it is %s', (_, fields) => {
    const refused = running.when(requested(fields))
    expect(refused.records).toEqual([])
    expect(refused.state).toEqual(running.state)
  })

  it('counts once, and the next one only after its answer', () => {
    expect(asked.when(requested()).records).toEqual([])
    expect(asked.when(requested({ number: 2 })).records).toEqual([])
    const next = asked.when(answered()).when(requested({ number: 2 }))
    expect(next.to('person')).toMatchObject([{ type: 'approval-asked', input: 2 }])
    expect(next.when(answered()).records).toEqual([])
    expect(next.when(answered({ input: 2 })).wants).toMatchObject([{ answer: { number: 2 } }])
  })

  it('has its own number in the round, also next to that of another call', () => {
    const both = given(
      executor,
      roundCleared({ calls: [callOf(0), callOf(1)] }),
      claim('o'),
      claim('o', { ordinal: 1 }),
      requested(),
      requested({ ordinal: 1 }),
    )
    expect(both.to('person')).toMatchObject([{ input: 2, calls: [{ ordinal: 1 }] }])
    const wants = both.when(answered({ input: 2, ordinal: 1 })).wants
    expect(wants).toMatchObject([
      { input: 1 },
      { ordinal: 0, answer: undefined },
      { ordinal: 1, answer: { number: 1, ...seat } },
    ])
  })

  it('is withdrawn when its call ends without the answer', () => {
    const over = asked.when(outcome('o', ok()))
    expect(over.to('person')).toEqual(withdrawn)
    expect(over.to('verdict')).toMatchObject([{ results: [{ status: 'ok' }] }])
  })

  it.each([
    ['the deadline of the claim passes', at(1_000 + claimMs, tick)],
    ['its process is dead', at(3_000, lapsed('o'))],
  ])('leaves an unknown outcome and is withdrawn when %s', (_, record) => {
    const over = asked.when(record)
    expect(over.to('person')).toEqual(withdrawn)
    const [executed] = over.to('verdict') as RoundExecuted[]
    expect(executed?.results).toMatchObject([{ status: 'unknown' }])
  })

  it('is withdrawn when an idempotent call is tried again, which may then ask anew', () => {
    const calls = [callOf(0, { name: look.name })]
    const again = given(executor, roundCleared({ calls }), claim('o'), requested(), lapsed('o'))
    expect(again.to('person')).toEqual(withdrawn)
    const second = again.when(claim('p', { try: 2 })).when(requested({ owner: 'p', try: 2 }))
    expect(second.to('person')).toMatchObject([{ type: 'approval-asked', input: 2 }])
    expect(second.when(answered()).wants.at(-1)).toMatchObject({ answer: undefined })
  })

  it('is withdrawn when its turn is cancelled, and a cancelled call asks nothing', () => {
    const cancelled = asked.when(cancel)
    expect(cancelled.to('person')).toEqual(withdrawn)
    expect(cancelled.when(requested({ number: 2 })).records).toEqual([])
    expect(cancelled.wants).toMatchObject([{ kind: 'run', cancelled: true }])
  })

  it('is withdrawn when an operator stops the call', () => {
    const stop: StopInForce = { scope: 'all', name: '', mode: 'now', reason: 'r' }
    const stopped = { type: 'calls-stopped' as const, ...place, round: 1, ordinals: [0], stop }
    expect(asked.when(stopped).to('person')).toEqual(withdrawn)
  })

  it('is withdrawn when the executor fails on its turn', () => {
    expect(asked.whenFails(cancel).to('person')).toMatchObject([
      { type: 'approval-withdrawn', input: 1 },
    ])
  })
})

describe('the questions of a tool', () => {
  const task = { kind: 'run', ...place, round: 1, ordinal: 0, try: 1, owner: 'o' } as never

  function world() {
    const clock = testClock()
    const written: InputRequested[] = []
    return { clock, written, questions: toolQuestions(task, clock, (it) => written.push(it)) }
  }

  it('are written with growing numbers, and each gets the answer of its number', async () => {
    const { written, questions } = world()
    const first = questions.ask(question, 500)
    expect(written).toEqual([requested({ waitMs: 500 })])
    questions.apply({ number: 2, ...seat })
    questions.apply({ number: 1, ...seat })
    expect(await first).toEqual(seat)
    const second = questions.ask(question, 500)
    questions.apply({ number: 1, ...seat })
    questions.apply({ number: 2, answer: 'decline', values: '' })
    expect(await second).toEqual({ answer: 'decline', values: '' })
    expect(written.map(({ number }) => number)).toEqual([1, 2])
  })

  it('are cancelled at the end of their wait, also if the log says nothing', async () => {
    const { clock, questions } = world()
    const answer = questions.ask(question, 500)
    clock.pass(500)
    expect(await answer).toEqual({ answer: 'cancel', values: '' })
  })

  it('have a limit, beyond which nobody gets one', async () => {
    const { written, questions } = world()
    for (let number = 1; number <= limits.inputsOfTryMax; number += 1) {
      const answer = questions.ask(question, 500)
      questions.apply({ number, ...seat })
      await answer
    }
    expect(await questions.ask(question, 500)).toEqual({ answer: 'cancel', values: '' })
    expect(written).toHaveLength(limits.inputsOfTryMax)
  })
})
