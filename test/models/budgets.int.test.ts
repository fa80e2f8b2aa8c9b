// The model of budgets: parallel attempts of two gateways reserve, settle and release.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it.each([
  ['holes', ['VIOLATED', 'VIOLATED', 'VIOLATED']],
  ['fixed', ['ok', 'ok', 'ok']],
])('parallel turns pass no budget by more than one reservation: %s', async (part, expected) => {
  const model = join(import.meta.dirname, 'budgets.py')
  const { stdout } = await promisify(execFile)('python3', [model, part])
  const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
  expect(verdicts.map((line) => line.split(' ')[0])).toEqual(expected)
})
