// The list of rules, and the page that tells people about them.

import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { rules } from '../../../services/loop-detector/rules.ts'

const page = readFileSync(new URL('../../../docs/guides/policies.md', import.meta.url), 'utf8')

it('has a row of the page for each rule, in the order in which they are heard, with what ends it', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const told = rows
    .map((row) => row.split(' | '))
    .map(([name = '', , endedBy]) => [name.replace(/[|` ]/g, ''), endedBy])
  expect(told).toEqual(rules.map(({ name, endedBy }) => [name, endedBy]))
})
