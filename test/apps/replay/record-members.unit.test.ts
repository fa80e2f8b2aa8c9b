// The differences of two records, and their lines.

import { describe, expect, it } from '@jest/globals'
import {
  commonText,
  differingLines,
  differingMembers,
  memberLines,
} from '../../../apps/replay/record-members.ts'

const wide = Number.POSITIVE_INFINITY

describe('differing members', () => {
  it('are named down to the depth that both records have', () => {
    const log = { turn: 1, results: [{ status: 'ok', text: 'a' }], usage: { input: 1 }, gone: 7 }
    const replay = {
      turn: 1,
      results: [{ status: 'ok', text: 'b' }, { status: 'error' }],
      usage: null,
      added: [],
    }
    expect(differingMembers(log, replay)).toEqual([
      { path: 'results[0].text', log: 'a', replay: 'b' },
      { path: 'results[1]', log: undefined, replay: { status: 'error' } },
      { path: 'usage', log: { input: 1 }, replay: null },
      { path: 'gone', log: 7, replay: undefined },
      { path: 'added', log: undefined, replay: [] },
    ])
    expect(differingMembers(log, { ...log })).toEqual([])
  })

  it('are shown with both values, whole if there is room', () => {
    expect(differingLines({ path: 'usage', log: { input: 1 }, replay: undefined }, wide)).toEqual([
      '  ≠ usage',
      '      log     {"input":1}',
      '      replay  nothing',
    ])
  })

  it('are cut around the difference, with its position', () => {
    const text = (word: string) => `${'x'.repeat(500)}${word}${'y'.repeat(500)}`
    const lines = differingLines({ path: 'text', log: text('one'), replay: text('two') }, 80)
    expect(lines[0]).toBe('  ≠ text, from character 501 on')
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/log {5}…x+oney+…$/),
      expect.stringMatching(/replay {2}…x+twoy+…$/),
    ])
    expect(lines.map((line) => line.length)).toEqual([31, 80, 80])
    expect(
      differingLines({ path: 'text', log: text('one'), replay: text('two') }, wide)[1],
    ).toContain(text('one'))
  })
})

describe('the other members', () => {
  it('are listed as equal: single values, and the names of larger members', () => {
    const log = { turn: 1, cap: null, usage: { input: 1 }, list: [], text: 'a' }
    expect(commonText(log, { ...log, text: 'b' })).toBe('turn 1, cap null, list []; all of usage')
    expect(commonText({ a: 1 }, { a: 2 })).toBeUndefined()
  })

  it('have a line each if there is only one record', () => {
    expect(memberLines({ turn: 1, reason: 'r'.repeat(50) }, 40)).toEqual([
      '    turn    1',
      `    reason  "${'r'.repeat(26)}…`,
    ])
  })
})
