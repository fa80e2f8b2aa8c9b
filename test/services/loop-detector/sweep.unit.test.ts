// Different reads that bring no line that is new in the turn.

import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../apps/replay/judge/overrides.ts'
import type { Step } from '../../../apps/replay/judge/scenario.ts'
import { judge } from '../../../apps/replay/judge/verdict.ts'
import { loopLinesMax } from '../../../services/loop-detector/novelty/pieces.ts'

const row = (number: number) => `row ${number} of the table`
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => row(from + index)).join('\n')
const window = (from: number, to: number, tool = 'read_lines'): Step => ({
  kind: 'tool',
  tool,
  args: { from, to },
  outcome: 'ok',
  result: rows(from, to),
})
const write: Step = {
  kind: 'tool',
  tool: 'write_file',
  args: { path: 'other' },
  outcome: 'ok',
  result: 'ok',
}
const ruleOf = (steps: Step[]) => judge({ id: 'a', steps }, givenBy([])).rule
const all = window(0, 50)
const inside = Array.from({ length: 8 }, (_, index) => window(index, index + 10 + 3 * index))

describe('different reads that bring nothing new', () => {
  it('are a sweep at the eighth round', () => {
    expect(ruleOf([all, ...inside])).toBe('sweep@6')
    expect(ruleOf([all, ...inside.slice(0, 7)])).toBeNull()
  })

  it('are no sweep while one of them brings a new line', () => {
    expect(ruleOf([all, ...inside.slice(0, 7), window(45, 51), ...inside.slice(7)])).toBeNull()
  })

  it('are no sweep after a change in between', () => {
    expect(ruleOf([all, ...inside.slice(0, 7), write, ...inside.slice(7)])).toBeNull()
  })

  it('are no sweep after any new result of another call in between', () => {
    const value = (index: number): Step => ({
      kind: 'tool',
      tool: 'read_value',
      args: { index },
      outcome: 'ok',
      result: `${index * 7}`,
    })
    expect(ruleOf([all, ...inside.flatMap((step, index) => [step, value(index)])])).toBeNull()
    expect(ruleOf([all, value(1), ...inside.flatMap((step) => [step, value(1)])])).not.toBeNull()
  })

  it('are no sweep if a result has more lines than the rule compares', () => {
    const growing = Array.from({ length: 9 }, (_, index) => window(0, loopLinesMax + 50 * index))
    expect(ruleOf(growing)).toBeNull()
  })

  it('are no sweep if each returns one whole text, which belongs to another rule', () => {
    expect(
      ruleOf(
        Array.from(
          { length: 12 },
          (_, index): Step =>
            ({ ...window(0, 3, 'get_health'), args: { host: `h${index}` } }) as Step,
        ),
      ),
    ).toBeNull()
  })

  it('are no sweep for a tool that changes things, or for results of one line', () => {
    expect(
      ruleOf([
        window(0, 50, 'apply_rows'),
        ...inside.map((step) => ({ ...step, tool: 'apply_rows' }) as Step),
      ]),
    ).toBeNull()
    const hosts = Array.from(
      { length: 12 },
      (_, index): Step =>
        ({ ...window(index, index + 1), result: 'the host is up and healthy' }) as Step,
    )
    expect(ruleOf(hosts)).toBeNull()
  })
})
