// Every turn has caps and ends at one of them at the latest (I3).

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import { encode } from '../../../shared/codec/codec.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { RoundOutcome } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { capNudge } from '../../../shared/contract/turn/turn-texts.ts'
import { at } from '../../support/given.ts'
import {
  all,
  fallback,
  intervention,
  names,
  only,
  openedWith,
  outcome,
  settingsWith,
} from './samples.ts'

describe('the cap on rounds', () => {
  const last = openedWith({ rounds: 2 })
    .when(outcome(0, 1, { calls: 1 }))
    .when(outcome(0, 2, { calls: 1 }))

  it('leads to one last text-only request with a text for the model', () => {
    expect(only(last.records, 'model-request')).toMatchObject({
      round: 3,
      callsLeft: 0,
      nudge: capNudge('rounds', 2),
    })
  })

  it('is named in the end of a turn that it led to answer', () => {
    const over = last.when(outcome(0, 3, { text: 'So far I know this.' }))
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      reply: 'So far I know this.',
      class: null,
      cap: 'rounds',
    })
    expect(only(over.records, 'history-entry').nudge).toBe(capNudge('rounds', 2))
  })

  it('is named in an answer next to skipped calls', () => {
    const over = last.when(outcome(0, 3, { text: 'So far I know this.', calls: 1 }))
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      cap: 'rounds',
    })
  })

  it('gives the fallback if the last request brings no text', () => {
    const over = last.when(outcome(0, 3, { calls: 1 }))
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      class: 'budget',
      cap: 'rounds',
      reply: fallback,
      reason:
        'the limit of 2 model rounds is reached, and the last text-only response brought no text',
      totals: { rounds: 3, calls: 3 },
    })
  })

  it('of one round still allows a last request for the answer', () => {
    expect(
      only(openedWith({ rounds: 1 }).when(outcome(0, 1)).records, 'model-request'),
    ).toMatchObject({ round: 2, callsLeft: 0 })
  })
})

describe('the cap on calls', () => {
  it('is part of each request as the calls left', () => {
    const turn = openedWith({ calls: 5 })
    expect(only(turn.records, 'model-request').callsLeft).toBe(5)
    expect(only(turn.when(outcome(0, 1, { calls: 2 })).records, 'model-request').callsLeft).toBe(3)
  })

  it.each([2, 3, 200])('of 2 leads to one last text-only request after %i', (calls) => {
    const last = openedWith({ calls: 2 }).when(outcome(0, 1, { calls }))
    expect(only(last.records, 'model-request')).toMatchObject({
      round: 2,
      callsLeft: 0,
      nudge: capNudge('calls', 2),
    })
    expect(only(last.when(outcome(0, 2)).records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      cap: 'calls',
      class: 'budget',
    })
  })
})

describe('the cap on tokens', () => {
  it('gives the fallback at once', () => {
    const turn = openedWith({ tokens: 100 }).when(outcome(0, 1, { calls: 1, tokens: 60 }))
    expect(names(turn.records)).toContain('model: model-request')
    const over = turn.when(outcome(0, 2, { calls: 1, tokens: 60 }))
    expect(names(over.records)).not.toContain('model: model-request')
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      class: 'budget',
      cap: 'tokens',
      reply: fallback,
      reason: 'the limit of 100 tokens is reached: 120 were used',
    })
  })

  it('holds over the tokens of agents that the calls ran, which are in the totals', () => {
    const called = outcome(0, 1, { calls: 2, tokens: 60 })
    const results = called.results.map((result) => ({
      ...result,
      tokens: { inputTokens: 20, outputTokens: 5 },
    }))
    const over = openedWith({ tokens: 100 }).when({ ...called, results })
    expect(only(over.records, 'turn-finished')).toMatchObject({
      cap: 'tokens',
      reason: 'the limit of 100 tokens is reached: 110 were used',
      totals: { inputTokens: 100, outputTokens: 10 },
    })
  })

  it('does not discard an answer', () => {
    const over = openedWith({ tokens: 100 }).when(outcome(0, 1, { text: 'long', tokens: 500 }))
    expect(only(over.records, 'turn-finished')).toMatchObject({ outcome: 'answered', cap: null })
  })

  it('is applied before the other caps', () => {
    const over = openedWith({ tokens: 1, rounds: 1, calls: 1, wallMs: 1 }).when(
      outcome(0, 1, { calls: 1, tokens: 1 }),
    )
    expect(only(over.records, 'turn-finished').cap).toBe('tokens')
  })
})

describe('the cap on wall time', () => {
  it('gives the fallback at once if a round finishes too late', () => {
    const over = openedWith({ wallMs: 1_000 }).when(at(1_000, outcome(0, 1, { calls: 1 })))
    expect(names(over.records)).toEqual([
      'history: history-entry',
      'verdict: turn-ended',
      'tools: turn-ended',
      'activity: turn-finished',
      'self: carried',
    ])
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      cap: 'wall',
      class: 'budget',
      reply: fallback,
    })
  })

  it('allows the next round if a round finishes just in time', () => {
    const turn = openedWith({ wallMs: 1_000 }).when(at(999, outcome(0, 1, { calls: 1 })))
    expect(only(turn.records, 'model-request').expiresAt).toBe(1_000)
  })
})

describe("the operator's caps", () => {
  it('apply if they are lower, from the first round with their stamp', () => {
    const turn = openedWith({ rounds: 20, calls: 20, wallMs: 60_000 }).when(
      outcome(0, 1, { calls: 1, caps: { calls: 4, wallMs: 9_000 } }),
    )
    expect(only(turn.records, 'model-request')).toMatchObject({ callsLeft: 3, expiresAt: 9_000 })
    expect(turn.due).toBe(9_000)
    const capped = turn.when(outcome(0, 2, { calls: 1, caps: { rounds: 2 } }))
    expect(only(capped.records, 'model-request')).toMatchObject({
      callsLeft: 0,
      nudge: capNudge('rounds', 2),
    })
  })

  it('do not raise the caps of the message', () => {
    const turn = openedWith({ calls: 2 }).when(
      outcome(0, 1, { calls: 1, caps: { calls: 1_000, tokens: 7 } }),
    )
    expect(only(turn.records, 'model-request').callsLeft).toBe(1)
  })

  it('cap tokens if the message does not', () => {
    const over = openedWith({ tokens: null }).when(
      outcome(0, 1, { calls: 1, tokens: 10, caps: { tokens: 10 } }),
    )
    expect(only(over.records, 'turn-finished').cap).toBe('tokens')
  })

  it('end a turn at once if they lower its time below the elapsed time', () => {
    const over = openedWith({ wallMs: 60_000 }).when(
      at(5_000, outcome(0, 1, { calls: 1, caps: { wallMs: 1_000 } })),
    )
    expect(only(over.records, 'turn-finished')).toMatchObject({ outcome: 'capped', cap: 'wall' })
  })

  it('apply for the rest of the turn', () => {
    const turn = openedWith({ calls: 20 })
      .when(outcome(0, 1, { caps: { calls: 4 } }))
      .when(outcome(0, 2, { caps: { calls: 10 } }))
    expect(only(turn.records, 'model-request').callsLeft).toBe(4)
  })
})

describe('a cap and an intervention at once', () => {
  it.each(['nudge', 'text_only'] as const)('show both texts: %s', (action) => {
    const last = openedWith({ rounds: 1 }).when(
      outcome(0, 1, { calls: 1, intervention: intervention(action) }),
    )
    expect(only(last.records, 'model-request')).toMatchObject({
      callsLeft: 0,
      nudge: `text of the ${action}\n\n${capNudge('rounds', 1)}`,
    })
    expect(only(last.when(outcome(0, 2)).records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      cap: 'rounds',
      class: 'budget',
    })
  })
})

describe('a last request without text, required by a cap and an intervention', () => {
  it('ends the turn as capped and names the cap', () => {
    const last = openedWith({ rounds: 1 }).when(
      outcome(0, 1, { calls: 1, intervention: intervention('text_only') }),
    )
    const over = last.when(outcome(0, 2, { calls: 1, intervention: intervention('end') }))
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      cap: 'rounds',
      class: 'budget',
    })
  })
})

describe('termination (I3)', () => {
  it('the caps alone stop a model that repeats one successful call', () => {
    let turn = openedWith({ rounds: 6, calls: 4 })
    let rounds = 0
    while (turn.state?.phase === 'open') turn = turn.when(outcome(0, ++rounds, { calls: 1 }))
    expect(rounds).toBe(5)
    expect(only(turn.all, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      cap: 'calls',
      reply: fallback,
      totals: { rounds: 5, calls: 5 },
    })
  })

  it('any sequence of rounds ends with one reply, and every request expires', () => {
    const caps = fc.record({
      rounds: fc.integer({ min: 1, max: 8 }),
      calls: fc.integer({ min: 1, max: 12 }),
      wallMs: fc.integer({ min: 1, max: 10_000 }),
      tokens: fc.option(fc.integer({ min: 1, max: 500 })),
    })
    const action = fc.constantFrom('nudge' as const, 'text_only' as const)
    const round = fc.record({
      calls: fc.integer({ min: 0, max: 4 }),
      text: fc.constantFrom('', ' ', 'text'),
      tokens: fc.integer({ min: 0, max: 50 }),
      intervention: fc.option(action.map((of) => intervention(of))),
    })
    fc.assert(
      fc.property(caps, fc.array(round, { minLength: 10, maxLength: 10 }), (limited, rounds) => {
        let turn = openedWith(limited)
        for (const [i, of] of rounds.entries()) turn = turn.when(outcome(0, i + 1, of))
        const requests = all(turn.all, 'model-request')
        expect(requests.length).toBeLessThanOrEqual(limited.rounds + 1)
        expect(requests.filter(({ callsLeft }) => callsLeft === 0).length).toBeLessThanOrEqual(1)
        expect(
          requests.every(
            ({ expiresAt, callsLeft }) => expiresAt <= limited.wallMs && callsLeft <= limited.calls,
          ),
        ).toBe(true)
        expect(all(turn.all, 'turn-finished')).toHaveLength(1)
        // CONV-5: one entry for each round, and one for the message of the user.
        expect(all(turn.all, 'history-entry').map(({ round }) => round)).toEqual([
          0,
          ...requests.map(({ round }) => round),
        ])
      }),
      { numRuns: 300 },
    )
  })
})

describe('the records of a round', () => {
  it('do not grow with the conversation', () => {
    let turn = openedWith({ rounds: limits.turnRoundsMax, calls: limits.turnCallsMax })
    const bytes: number[] = []
    for (let round = 1; round <= 200; round++) {
      turn = turn.when(
        outcome(0, round, { calls: 1, tokens: 1_000, caps: { rounds: 1_000, calls: 10_000 } }),
      )
      bytes.push(bytesOf(turn.records))
    }
    const [fifth, twoHundredth] = [bytes[4] as number, bytes[199] as number]
    expect(Math.abs(twoHundredth - fifth)).toBeLessThanOrEqual(0.1 * fifth)
  })
})

function bytesOf(records: Output[]): number {
  return records.reduce((sum, { message }) => sum + encode(message).length, 0)
}

// The traces of the kind "budget", as rounds of a turn with the limits of the trace as caps.
const scenarios = new URL('../../../../shared/fixtures/loop-scenarios.jsonl', import.meta.url)
const traces = existsSync(scenarios)
  ? readFileSync(scenarios, 'utf8').split('\n').filter(Boolean).map(readTrace).filter(isBudget)
  : []

type Trace = {
  id: string
  group: string
  steps: { kind: string; text?: string; turn?: number }[]
  limits: { max_tool_calls?: number; max_turns?: number }
  expect: { fires: boolean; by_step: number }
}

describe('traces with a limit', () => {
  if (traces.length === 0) test.todo('need the fixtures next to the checkout')

  for (const trace of traces) {
    it(`${trace.id} is stopped in time, or not at all`, () => {
      const caps = {
        calls: trace.limits.max_tool_calls ?? 1_000,
        rounds: trace.limits.max_turns ?? 1_000,
      }
      let turn = openedWith(caps)
      let stoppedAfter = Number.POSITIVE_INFINITY
      for (const { round, step } of roundsOf(trace)) {
        turn = turn.when({ ...round, policy: settingsWith(caps).policy })
        const refusesCalls = all(turn.records, 'model-request').some(
          ({ callsLeft }) => callsLeft === 0,
        )
        if (refusesCalls || all(turn.records, 'turn-finished').some(({ cap }) => cap !== null))
          stoppedAfter = Math.min(stoppedAfter, step)
      }
      if (trace.expect.fires) expect(stoppedAfter).toBeLessThanOrEqual(trace.expect.by_step)
      else expect(stoppedAfter).toBe(Number.POSITIVE_INFINITY)
    })
  }
})

function readTrace(line: string): Trace {
  return JSON.parse(line) as Trace
}

function isBudget({ group }: Trace): boolean {
  return group === 'budget'
}

/** The steps of one response are one round. `step`: the last of them. */
function roundsOf({ steps }: Trace): { round: RoundOutcome; step: number }[] {
  const rounds: { round: RoundOutcome; step: number }[] = []
  for (let i = 0; i < steps.length; ) {
    const first = steps[i] as Trace['steps'][number]
    let end = i + 1
    while (first.turn !== undefined && steps[end]?.turn === first.turn) end++
    const of = first.kind === 'tool' ? { calls: end - i } : { text: first.text ?? '' }
    rounds.push({ round: outcome(0, rounds.length + 1, of), step: end })
    i = end
  }
  return rounds
}
