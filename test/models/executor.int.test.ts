// The model of the executor's claims: the next owner may not release them as soon as the group has
// expelled the dead member. It may report the result that a dead owner's tool left. The model prints
// the shortest history that goes wrong.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it('an early release of claims lets a tool start late, or run next to its next try', async () => {
  const model = join(import.meta.dirname, 'executor.py')
  const { stdout } = await promisify(execFile)('python3', [model, 'expel'])
  const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
  expect(verdicts.map((line) => line.slice(0, 40).trim())).toEqual([
    'VIOLATED expel: a paused owner wakes aft',
    'VIOLATED expel: paused between the look',
    'VIOLATED expel: the tool of the killed o',
    'VIOLATED expel: the same with an idempot',
  ])
  const releases = stdout.split('! ').slice(1)
  expect(releases.map((history) => /releases the claim of owner1/.test(history))).toEqual([
    true,
    true,
    true,
    true,
  ])
})

it('the next owner may report the kept result of a dead owner for exactly its claim', async () => {
  const model = join(import.meta.dirname, 'executor.py')
  const { stdout } = await promisify(execFile)('python3', [model, 'kept'])
  const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
  expect(verdicts.map((line) => line.slice(0, 36).trim())).toEqual([
    'VIOLATED kept: the result is not bou',
    'ok       kept: a killed owner, a zom',
    'ok       kept: two killed owners, ca',
    'ok       kept: idempotent tool, two',
    'ok       kept, and the bus proves an',
  ])
})

it('a call that owners give back ends at a bound, and never starts twice', async () => {
  const model = join(import.meta.dirname, 'executor.py')
  const { stdout } = await promisify(execFile)('python3', [model, 'returns'])
  const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
  expect(verdicts.map((line) => line.slice(0, 48).trim())).toEqual([
    'ok       returns: given back twice, no other fau',
    'ok       returns: given back twice, cancel',
  ])
})

it('a call whose agent goes on is never skipped, and its cancel reaches the agent', async () => {
  const model = join(import.meta.dirname, 'executor.py')
  const { stdout } = await promisify(execFile)('python3', [model, 'agents'])
  const verdicts = stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
  expect(verdicts.map((line) => line.slice(0, 40).trim())).toEqual([
    'VIOLATED agents: given back as never sta',
    'VIOLATED agents: a cancel ends a call wi',
    'ok       agents: given back twice, cance',
    'ok       agents: given back, a killed ow',
  ])
})
