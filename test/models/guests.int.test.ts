// The models of guests: each rule of the design is needed. A rule that is left out breaks a claim,
// and the model prints the shortest history that goes wrong.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it.each([
  ['guests.py', 14],
  ['guests_turns.py', 16],
  ['guests_calls.py', 16],
  ['guests_rewrites.py', 5],
])('each rule left out of %s breaks a claim', async (model, rules) => {
  const { stdout } = await promisify(execFile)(
    'python3',
    [join(import.meta.dirname, model), 'holes'],
    { maxBuffer: 16 * 1024 * 1024 },
  )
  const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
  expect(verdicts.filter((line) => !line.startsWith('VIOLATED'))).toEqual([])
  expect(verdicts).toHaveLength(rules)
})

it('a guest-carried counts only as the last record of its unit', async () => {
  const { stdout } = await promisify(execFile)('python3', [
    join(import.meta.dirname, 'guests_refold.py'),
    '6',
  ])
  const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
  expect(verdicts.map((line) => line.slice(0, 17).trim())).toEqual([
    'VIOLATED two',
    'VIOLATED last',
    'VIOLATED none',
    'ok       checked',
  ])
})
