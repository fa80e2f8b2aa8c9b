// `weir judge` reads a failure as the executor does: by the line that names the error.

import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../../apps/replay/judge/overrides.ts'
import type { Scenario } from '../../../../apps/replay/judge/scenario.ts'
import { scenarioOf } from '../../../../apps/replay/judge/timeline-scenario.ts'
import { judge } from '../../../../apps/replay/judge/verdict.ts'
import type { CallResult, Intervention } from '../../../../shared/contract/messages.ts'
import { commandEnding } from '../../../../shared/tools/command/command-ending.ts'
import { one, played } from '../../../services/loop-detector/rounds.ts'
import { resultWith } from '../../../support/messages.ts'

const trace = (line: string, error: string) =>
  `Traceback (most recent call last):\n  File "a.py", line ${line}, in <module>\n${error}\n`
const texts = (first: string, error: string) =>
  ['alpha', 'beta', 'gamma'].map((word) => `${first} ${word}\n${error}\n`)

/** The result of a program that fails and writes this to its error output. */
function live(text: string): CallResult {
  const output = (text: string) => ({
    text,
    bytes: Buffer.byteLength(text),
    cut: false,
    replaced: false,
  })
  const exit = { code: 1, signal: null }
  const outputs = { stdout: output(''), stderr: output(text) }
  const ending = commandEnding({ cause: { kind: 'itself' }, exit, ...outputs })
  return resultWith({ status: 'error', text: ending.text, reason: ending.reason })
}

const args = { to: 'a' }

function scenario(results: string[]): Scenario {
  const steps = results.map((result) => ({
    kind: 'tool' as const,
    tool: 'copy',
    args,
    outcome: 'error' as const,
    result,
  }))
  return { id: 'corpus', steps: [{ kind: 'user' }, ...steps] }
}

function conversation(results: CallResult[]): Scenario {
  const response = { text: '', reasoning: null, stop: 'calls' }
  const rounds = results.map((result) => ({
    response,
    calls: [{ name: 'copy', rawArguments: JSON.stringify(args), result }],
  }))
  const timeline = { conversation: 'c', turns: [{ rounds }] }
  return scenarioOf(timeline as unknown as Parameters<typeof scenarioOf>[0])
}

/** The first intervention. Step 1 is the user's message. */
function firstOf(all: (Intervention | null)[]) {
  const index = all.findIndex((intervention) => intervention !== null && !intervention.ordinary)
  const found = all[index]
  if (found == null) return { fired: false, step: null, reason: null }
  return { fired: true, step: index + 2, reason: found.reason }
}

describe('weir judge and the executor agree on results', () => {
  it.each([
    ['with one error after different first lines', texts('reading', 'fatal: disk quota exceeded')],
    [
      'with one error after different lines of a trace',
      ['3', '40', '500'].map((line) => trace(line, 'ValueError: bad date')),
    ],
    [
      'with different errors after one first line',
      ['ValueError: bad date', 'KeyError: alpha', 'OSError: no space'].map((error) =>
        trace('3', error),
      ),
    ],
  ])('%s', (_, outputs) => {
    const results = outputs.map(live)
    const steps = results.map((result) => one('copy', args, result))
    const expected = firstOf(played(...steps))
    expect(expected.fired).toBe(true)
    expect(judge(scenario(outputs), givenBy([]))).toMatchObject(expected)
    expect(judge(conversation(results), givenBy([]))).toMatchObject(expected)
  })
})
