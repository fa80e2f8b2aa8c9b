// The model of the gateway and the accumulator: when an attempt may begin, and how its last parts reach
// the accumulator.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

async function verdictsOf(part: string): Promise<string[]> {
  const model = join(import.meta.dirname, 'stream.py')
  const { stdout } = await promisify(execFile)('python3', [model, part])
  return stdout
    .split('\n')
    .filter((line) => /^(ok|VIOLATED)/.test(line))
    .map((line) => line.slice(0, 40).trim())
}

it('a part before model-opened, or a last part next to attempt-finished, can lose the answer', async () => {
  expect(await verdictsOf('holes')).toEqual([
    'VIOLATED literal page, 1 zombie',
    'VIOLATED literal page, 1 crash',
    'VIOLATED unordered, no fault',
    'ok       together, no fault',
    'VIOLATED together, 1 crash',
  ])
})

it('an attempt may begin while model-opened and attempt-started are written', async () => {
  expect(await verdictsOf('ahead')).toEqual([
    'ok       ahead, 1 crash',
    'ok       ahead, 1 zombie',
    'ok       ahead, 2 crashes',
  ])
})

it('an answer is whole and single if attempt-finished carries the parts that are not acknowledged', async () => {
  expect(await verdictsOf('carried')).toEqual([
    'ok       carried, 1 crash',
    'ok       carried, 1 zombie',
    'ok       carried, 2 crashes',
  ])
})
