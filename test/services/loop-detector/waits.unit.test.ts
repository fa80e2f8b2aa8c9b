// Waiting is no loop: the table of waits (waits.ts) through weir judge and through the detector.

import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../apps/replay/judge/overrides.ts'
import type { Scenario, ToolStep } from '../../../apps/replay/judge/scenario.ts'
import { judge } from '../../../apps/replay/judge/verdict.ts'
import { loopDetector } from '../../../services/loop-detector/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type { Intervention, Policy } from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import { checked, declared, executed, failing, ok, policyWith, toolCall } from './rounds.ts'
import { fakeWaits, silentWaits, type WaitCall, type WaitCase } from './waits.ts'

const polls = 20
const second = 1000
const minute = 60 * second

/** The calls, each in a separate round. */
function callsOf({ first, lap }: WaitCase, laps: number): WaitCall[] {
  return [
    ...(first === undefined ? [] : [first]),
    ...Array.from({ length: laps }, () => lap).flat(),
  ]
}

/** Plays the calls through the whole reducer, `stepMs` apart. */
function interventions(
  calls: WaitCall[],
  stepMs: number,
  policy: Policy = defaultPolicy,
): (Intervention | null)[] {
  let story = given(loopDetector)
  return calls.map(({ tool, args, answer, failed, poller }, index) => {
    const round = index + 1
    const time = round * stepMs
    const declarations = [declared(tool, { poll: poller === true })]
    const proposed = checked(round, {
      calls: [toolCall(tool, args)],
      declarations,
      policy,
      expiresAt: Number.MAX_SAFE_INTEGER,
    })
    const result = failed ? failing(answer) : ok(answer)
    story = story.when(at(time, proposed)).when(at(time + 1, executed(round, [result])))
    const [outcome] = story.to('conversation')
    if (outcome?.type !== 'round-outcome') throw new Error(`round ${round} has no outcome`)
    return outcome.intervention
  })
}

function actionsOf(calls: WaitCall[], stepMs: number): string[] {
  return interventions(calls, stepMs).map((intervention) => intervention?.action ?? '-')
}

function scenarioOf(waitCase: WaitCase, laps: number, stepMs: number): Scenario {
  const calls = callsOf(waitCase, laps)
  return {
    id: waitCase.id,
    steps: calls.map(
      ({ tool, args, answer, failed }, n): ToolStep => ({
        kind: 'tool',
        tool,
        args,
        outcome: failed ? 'error' : 'ok',
        result: answer,
        at: (n + 1) * stepMs,
      }),
    ),
    tool_hints: Object.fromEntries(
      calls.flatMap(({ tool, poller }) => (poller ? [[tool, { poll: true }]] : [])),
    ),
  }
}

const rows = (cases: WaitCase[]) => cases.map((one) => [one.id, one] as const)

describe('a wait', () => {
  it('has at least forty cases, and at least twenty fakes', () => {
    expect(silentWaits.length).toBeGreaterThanOrEqual(40)
    expect(fakeWaits.length).toBeGreaterThanOrEqual(20)
  })

  it.each(rows(silentWaits))('gets no intervention for twenty polls: %s', (_, waitCase) => {
    const calls = callsOf(waitCase, polls)
    const silence = calls.map(() => '-')
    expect(actionsOf(calls, 30 * second)).toEqual(silence)
    expect(actionsOf(calls, 2 * second)).toEqual(silence)
    expect(judge(scenarioOf(waitCase, polls, 30 * second), givenBy([]))).toMatchObject({
      fired: false,
    })
  })

  it.each(rows(silentWaits))('of hours gets a reminder each hour, and never ends: %s', (_, one) => {
    const actions = actionsOf(callsOf(one, 130), minute)
    expect(actions.slice(0, 60)).toEqual(actions.slice(0, 60).map(() => '-'))
    expect(new Set(actions)).toEqual(new Set(['-', 'nudge']))
    const reminders = actions.filter((action) => action === 'nudge').length
    expect(reminders).toBe(Math.floor((actions.length - 1) / 60))
  })
})

describe('a fake wait', () => {
  it.each(rows(fakeWaits))('is noticed within eight calls: %s', (_, waitCase) => {
    const calls = callsOf(waitCase, 8)
    expect(actionsOf(calls, 30 * second)).toContain('nudge')
    const verdict = judge(scenarioOf(waitCase, 8, 30 * second), givenBy([]))
    expect(verdict).toMatchObject({ fired: true })
    expect(verdict.step).toBeLessThanOrEqual(8)
  })
})

describe('a model that loops', () => {
  it('is noticed at its sixteenth invented session, because different ids may be a batch', () => {
    const calls = Array.from(
      { length: 16 },
      (_, n): WaitCall => ({
        tool: 'write_stdin',
        args: { session_id: n, chars: '' },
        answer: 'Unknown process id',
      }),
    )
    expect(actionsOf(calls, 30 * second).indexOf('nudge')).toBe(15)
  })

  const written = (n: number): WaitCall => ({
    tool: 'get_thing',
    args: { id: 5, wait: true, n },
    answer: 'blue',
  })

  it('gains the time of a wait by writing wait into its calls, and no more', () => {
    const same = Array.from({ length: 130 }, () => written(1))
    const other = Array.from({ length: 130 }, (_, n) => written(n))
    for (const calls of [same, other]) {
      const reminders = actionsOf(calls, minute).flatMap((action, n) => (action === '-' ? [] : [n]))
      expect(reminders).toEqual([60, 120])
    }
  })

  it('is reminded at the twenty-fifth look if it looks without a pause', () => {
    const build: WaitCall = { tool: 'get_build', args: { id: 1 }, answer: 'running', poller: true }
    const calls = Array.from({ length: 60 }, () => build)
    const raised = interventions(calls, 200).flatMap((one, n) => (one === null ? [] : [{ n, one }]))
    expect(raised).toMatchObject([{ n: 24 }, { n: 49 }])
    for (const { one } of raised)
      expect(one).toMatchObject({ rule: 'still-waiting', action: 'nudge', class: null })
  })

  const slept = (command: string): WaitCall => ({
    tool: 'bash',
    args: { command },
    answer: 'a.txt b.txt',
  })
  const remindersOf = (command: string) =>
    actionsOf(
      Array.from({ length: 250 }, () => slept(command)),
      5 * second,
    ).flatMap((action, n) => (action === '-' ? [] : [n]))

  it.each(['sleep 1 && ls', 'sleep 2; ls; sleep 2.5', 'sleep 4s; ls'])(
    'is reminded at each hundredth look after a short sleep: %s',
    (command) => expect(remindersOf(command)).toEqual([99, 199]),
  )

  it.each([
    'sleep 5 && ls',
    'sleep 2; ls; sleep 3',
    'sleep 1m; ls',
    'sleep $N; ls',
    'for i in 1 2 3 4; do sleep 2; ls; done',
  ])('has the time of a wait after a longer sleep: %s', (command) =>
    expect(remindersOf(command)).toEqual([]),
  )

  it('has the time of a wait after a short sleep if the answers state that it runs', () => {
    const polls = Array.from({ length: 250 }, () => ({
      ...slept('sleep 1; ./ci status'),
      answer: 'status: running',
    }))
    expect(new Set(actionsOf(polls, 5 * second))).toEqual(new Set(['-']))
  })

  it('reads that it is still waiting, and its other choices', () => {
    const build: WaitCall = { tool: 'get_build', args: { id: 1 }, answer: 'running' }
    const raised = interventions([...Array.from({ length: 70 }, () => build)], minute)
    const one = raised.find((intervention) => intervention !== null)
    expect(one?.reason).toBe('waited for 60 minutes in 61 rounds, and nothing changed')
    expect(one?.text).toBe(
      [
        'SYSTEM INTERVENTION — STILL WAITING',
        'Your last 3 looks were:',
        '1. get_build({"id":1}) → returned: running',
        '2. get_build({"id":1}) → returned: running',
        '3. get_build({"id":1}) → returned: running',
        'You are still waiting: 60 minutes in 61 rounds, and nothing has changed.',
        'On your next turn, stop waiting or do something else:',
        '1. Find out whether the thing that you wait for still makes progress, or stop it.',
        '2. Go on with work that does not need it.',
        '3. If you must wait on, wait longer before you look again.',
        '4. If nothing is left to do, tell the user in plain text what you are waiting for.',
      ].join('\n'),
    )
  })

  it('has the time of a wait that the policy sets, from the last news on', () => {
    const build = (answer: string): WaitCall => ({ tool: 'get_build', args: { id: 1 }, answer })
    const phases = ['queued', 'compiling', 'linking'].flatMap((state) =>
      Array.from({ length: 50 }, () => build(`{"status":"running","phase":"${state}"}`)),
    )
    expect(new Set(actionsOf(phases, minute))).toEqual(new Set(['-']))
    const short = policyWith({ loop: { waitMinutes: 5 } })
    const actions = interventions(phases.slice(0, 12), minute, short).map(
      (one) => one?.action ?? '-',
    )
    expect(actions.indexOf('nudge')).toBe(6)
  })
})
