// The scenario format, and the errors for mistakes in it.

import { describe, expect, it } from '@jest/globals'
import { notDefault } from '../../../../apps/history/effective.ts'
import { givenBy } from '../../../../apps/replay/judge/overrides.ts'
import { readScenarios } from '../../../../apps/replay/judge/scenario-file.ts'
import { judge } from '../../../../apps/replay/judge/verdict.ts'
import { madeUpSettings } from '../../../../apps/transcripts/made-up-settings.ts'
import type { Timeline } from '../../../../shared/view/timeline.ts'

const read = (...lines: unknown[]) =>
  readScenarios(
    'corpus.jsonl',
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
const step = { kind: 'tool', tool: 'read', args: {}, outcome: 'ok', result: 'text' }

describe('a scenario', () => {
  it('can have blank lines around it and unknown keys', () => {
    expect(read('', { id: 'a', steps: [step], source: 'a ticket' }, ' ')).toMatchObject([
      { id: 'a', steps: [{ tool: 'read' }] },
    ])
  })

  it.each<[string, unknown[], string]>([
    ['text that is no JSON', ['{"id": '], 'corpus.jsonl:1: is not JSON'],
    ['no steps', [{ id: 'a' }], "corpus.jsonl:1: must have required property 'steps'"],
    [
      'a kind that there is not',
      [{ id: 'a', steps: [{ kind: 'tol' }] }],
      'steps[0] has the kind "tol"; must be tool, text, thinking_only, empty',
    ],
    [
      'an outcome that there is not',
      [{ id: 'a', steps: [{ ...step, outcome: 'failed' }] }],
      'steps[0].outcome must be ok or error',
    ],
    [
      'a call without a result',
      [{ id: 'a', steps: [{ ...step, result: undefined }] }],
      "steps[0] must have required property 'result'",
    ],
    [
      'an id twice',
      [
        { id: 'a', steps: [] },
        { id: 'a', steps: [] },
      ],
      'has two scenarios "a"',
    ],
    ['nothing at all', [''], 'has no scenario'],
  ])('is refused with its place: %s', (_, lines, told) => {
    expect(() => read(...lines)).toThrow(told)
  })
})

describe('an exported conversation', () => {
  const call = { ordinal: 0, id: 'x', name: 'read', rawArguments: '{"a":1}' }
  const round = (
    calls: unknown[],
    response: unknown = { text: '', reasoning: null, stop: 'calls' },
  ) => ({ calls, response })
  const timeline = {
    conversation: 'c1',
    turns: [
      {
        rounds: [
          round([
            { ...call, result: { status: 'ok', text: 'fine', reason: '' } },
            {
              ...call,
              ordinal: 1,
              result: {
                status: 'denied',
                text: 'Tool call rejected ...',
                reason: 'command is required',
              },
            },
            { ...call, ordinal: 2, result: { status: 'skipped', text: '', reason: '' } },
          ]),
          round([], { text: '', reasoning: { bytes: 1 }, stop: 'length' }),
          round([], null),
          round([], { text: 'Done.', reasoning: null, stop: 'end' }),
        ],
      },
    ],
  } as unknown as Timeline

  it('becomes a scenario without a label, with its responses and the results of its calls', () => {
    expect(read(timeline)).toEqual([
      {
        id: 'c1',
        steps: [
          { kind: 'user' },
          {
            kind: 'tool',
            tool: 'read',
            args: {},
            raw_args: '{"a":1}',
            turn: 1,
            outcome: 'ok',
            result: 'fine',
          },
          {
            kind: 'tool',
            tool: 'read',
            args: {},
            raw_args: '{"a":1}',
            turn: 1,
            outcome: 'error',
            result: 'Tool call rejected ...',
          },
          { kind: 'thinking_only', finish: 'length' },
          { kind: 'text', text: 'Done.' },
        ],
        tool_hints: {},
        settingsOf: expect.any(Function),
        reasonOf: expect.any(Function),
      },
    ])
  })

  it('is judged by the settings in force in each round, unless --set names others', () => {
    const failing = { ...call, result: { status: 'error', text: '', reason: 'no such file' } }
    const under = (differs: object | null) => ({
      ...round([failing]),
      policy: differs && { version: 'v', differs },
    })
    const judgedUnder = (differs: (object | null)[], ...set: string[]) => {
      const [scenario] = read({ conversation: 'c2', turns: [{ rounds: differs.map(under) }] })
      return scenario && judge(scenario, givenBy(set))
    }
    const strict = {
      'loop.identicalFailures': '2',
      'caps.tokens': null,
      'caps.calls': '1',
      'loop.ofTomorrow': '9',
    }
    expect(judgedUnder([strict, strict])).toMatchObject({
      step: 3,
      rule: 'identical-failure@5',
      settings: strict,
    })
    expect(judgedUnder([{}, strict])?.step).toBe(3)
    expect(judgedUnder([strict, {}])).toMatchObject({ fired: false, settings: {} })
    expect(judgedUnder([null, null, null])).toMatchObject({ step: 4, settings: {} })
    expect(judgedUnder([strict, strict], 'loop.identicalFailures=3')?.fired).toBe(false)
    const shadow = { 'rule.identical-failure': 'shadow' }
    expect(judgedUnder([shadow, shadow, shadow])).toMatchObject({
      fired: false,
      shadowed: [{ step: 4 }],
    })
    expect(judgedUnder([shadow, shadow, shadow], 'rule.identical-failure=enforce')?.step).toBe(4)
  })

  it('is judged by the defaults if it is an imported transcript without real settings', () => {
    const failing = { ...call, result: { status: 'error', text: '', reason: 'no such file' } }
    const imported = {
      ...round([failing]),
      policy: { version: 'v', differs: notDefault(madeUpSettings.policy) },
    }
    const [scenario] = read({
      conversation: 'c4',
      turns: [{ rounds: [imported, imported, imported] }],
    })
    expect(scenario).toMatchObject({ isImported: true })
    expect(scenario && judge(scenario, givenBy([]))).toMatchObject({ step: 4, settings: null })
    expect(() => givenBy(['loop.identicalFailures=100000'])).toThrow() // so no run had this value
  })

  it('has an unknown pace if it is an imported transcript, so a poll is a wait', () => {
    const look = { ...call, name: 'run', rawArguments: '{"command":"gh run view 7"}' }
    const looked = round([{ ...look, result: { status: 'ok', text: 'in_progress', reason: '' } }])
    const differs = notDefault(madeUpSettings.policy)
    const judged = (policy: object | null) => {
      const rounds = Array.from({ length: 40 }, () => ({ ...looked, policy }))
      const [scenario] = read({ conversation: 'c5', turns: [{ rounds }] })
      return scenario && judge(scenario, givenBy([])).fired
    }
    expect(judged({ version: 'v', differs })).toBe(false)
    expect(judged(null)).toBe(true) // a trace of another program states that it has no pauses
  })

  it('is judged by the declarations of its tools', () => {
    const looked = {
      ...round([{ ...call, result: { status: 'ok', text: 'pending', reason: '' } }]),
      policy: null,
    }
    const looks = (hints?: object) => {
      const [scenario] = read({
        conversation: 'c3',
        turns: [{ rounds: Array.from({ length: 26 }, () => ({ ...looked, hints })) }],
      })
      return scenario && judge(scenario, givenBy([])).step
    }
    expect(looks()).toBe(6)
    expect(looks({ read: { poll: true, mutates: null, ignoreFields: [], loopKey: [] } })).toBe(26)
    expect(looks({ other: { poll: true, mutates: null, ignoreFields: [], loopKey: [] } })).toBe(6)
  })

  it('does not read our names in a scenario of a file', () => {
    const [scenario] = read({
      id: 'a',
      steps: [{ kind: 'empty' }],
      settingsOf: 7,
      isImported: true,
    })
    expect(scenario?.isImported).toBeUndefined()
    expect(scenario && judge(scenario, givenBy([]))).toMatchObject({ id: 'a', settings: null })
  })

  it.each<[string, unknown, string]>([
    [
      'a turn without rounds',
      { turns: [{}] },
      "corpus.jsonl:1: turns[0] must have required property 'rounds'",
    ],
    ['turns that are none', { turns: 5 }, 'turns must be array'],
    ['a round that is none', { turns: [{ rounds: [null] }] }, 'turns[0].rounds[0] must be object'],
    [
      'a response without words',
      { turns: [{ rounds: [round([], {})] }] },
      "rounds[0].response must have required property 'text'",
    ],
    [
      'a call without a result',
      { turns: [{ rounds: [round([call])] }] },
      "calls[0] must have required property 'result'",
    ],
    ['a conversation that is no name', { conversation: 7 }, 'conversation must be string'],
  ])('is refused with its place: %s', (_, fields, told) => {
    expect(() => read({ ...timeline, ...(fields as object) })).toThrow(
      expect.objectContaining({ code: 'scenario.invalid' }),
    )
    expect(() => read({ ...timeline, ...(fields as object) })).toThrow(told)
  })
})
