// The models of budgets, trees and lines: parallel attempts, children, and requests to one provider.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

async function linesOf(model: string, part: string): Promise<string[]> {
  const file = join(import.meta.dirname, model)
  const { stdout } = await promisify(execFile)('python3', [file, part])
  return stdout.split('\n').filter((line) => /^(ok|VIOLATED)/.test(line))
}

async function verdictsOf(model: string, part: string): Promise<(string | undefined)[]> {
  return (await linesOf(model, part)).map((line) => line.split(' ')[0])
}

const [bad, ok] = ['VIOLATED', 'ok']

it.each([
  ['holes', [bad, bad, bad]],
  ['fixed', [ok, ok, ok]],
])('parallel turns pass no budget by more than one reservation: %s', async (part, expected) => {
  expect(await verdictsOf('budgets.py', part)).toEqual(expected)
})

it('visits the states that the page of numbers names', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/start/numbers.md'), 'utf8')
  for (const line of await linesOf('budgets.py', 'fixed')) {
    const states = Number(/(\d+) states/.exec(line)?.[1])
    expect(page).toContain(states.toLocaleString('en-US'))
  }
})

it.each([
  ['holes', [bad, bad, bad, bad, bad]],
  ['fixed', [ok, ok, ok]],
])(
  'children of a tree never pass its caps, and a further try is no further child: %s',
  async (part, expected) => {
    expect(await verdictsOf('trees.py', part)).toEqual(expected)
  },
)

it.each([
  ['holes', [bad, bad, bad, bad, bad]],
  ['fixed', [ok, ok, ok, ok, ok, ok]],
])(
  'requests to one provider start one after the other, and a killed owner leaves no place taken: %s',
  async (part, expected) => {
    expect(await verdictsOf('lines.py', part)).toEqual(expected)
  },
)
