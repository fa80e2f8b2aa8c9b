// The model of a guard that an operator changes while a round is on its way.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it.each([
  [
    'holes',
    [
      'VIOLATED left out: firstAt',
      'VIOLATED left out: the replaced registrations',
      'VIOLATED left out: a replaced registration counts only in its time',
      'VIOLATED residue: a call that waits while its guard changes twice',
    ],
  ],
  ['fixed', ['ok       a guard is changed and removed, the call waits']],
])(
  'a change of a guard denies no call, and lets no call start without the guard: %s',
  async (part, expected) => {
    const model = join(import.meta.dirname, 'guards.py')
    const { stdout } = await promisify(execFile)('python3', [model, part])
    const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
    expect(verdicts.map((line) => line.slice(0, 71).trim())).toEqual(expected)
  },
)
