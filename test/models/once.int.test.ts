// The model of equal calls of a tool that must not run twice.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it.each([
  [
    'holes',
    [
      'VIOLATED left out: an allowed call holds the values',
      'VIOLATED left out: a claim without a result may have run',
      'VIOLATED left out: a restarted guard folds its inbox again',
      'VIOLATED left out: a failed call may be tried again',
      'VIOLATED left out: no claim counts after its round',
      'VIOLATED left out: a call starts only after its reservation was read',
      'VIOLATED left out: an expired reservation holds the values',
      'VIOLATED left out: the release of a try leaves the others',
      'VIOLATED left out: an expired try counts on',
      'VIOLATED left out: the tenant has one log',
    ],
  ],
  [
    'fixed',
    [
      'ok       two conversations and a retry, 2 crashes',
      'ok       two conversations of a tenant and a second try, 2 crashes',
    ],
  ],
])(
  'no schedule lets two equal calls take effect, and a failed call may be tried again: %s',
  async (part, expected) => {
    const model = join(import.meta.dirname, 'once.py')
    const { stdout } = await promisify(execFile)('python3', [model, part])
    const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
    expect(verdicts.map((line) => line.slice(0, 71).trim())).toEqual(expected)
  },
)
