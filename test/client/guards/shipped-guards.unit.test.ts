// weir-agents/guards: the guards that ship, for a program.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import * as shipped from '../../../client/guards/guards.ts'

const folder = join(import.meta.dirname, '../../../services/guards')

it('exports each guard that `weir guard run` starts by its name', () => {
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'guard.ts')))
  expect(names.length).toBeGreaterThan(3)
  expect(Object.keys(shipped).sort()).toEqual(names.map((name) => `${name}Guard`).sort())
})
