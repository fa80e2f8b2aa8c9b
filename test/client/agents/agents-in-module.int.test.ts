// The agents that a module exports.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { agentsInModule, isModule } from '../../../client/agents/agents-in-module.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-module-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const agentsIn = async (name: string, source: string) => {
  writeFileSync(join(folder, name), source)
  return (await agentsInModule(join(folder, name))).map((agent) => agent.name)
}
const agent = (name: string) => `{ name: '${name}', model: {}, system: '' }`

it('finds each agent once, alone and in lists, and leaves other exports out', async () => {
  const source = `const a = ${agent('a')}
export const one: object = a
export const many = [${agent('b')}, a, 5]
export default ${agent('c')}
export const settings = { name: 'shop' }
export const run = () => {}`
  expect((await agentsIn('all.mts', source)).sort()).toEqual(['a', 'b', 'c'])
})

it.each([
  ['none.mts', 'export const x = 1', 'exports no agent: export one of defineAgent. It exports x'],
  ['empty.mts', '', 'It exports nothing'],
  ['broken.mts', 'throw new Error("no key")', 'cannot be loaded: no key'],
])('refuses %s with the reason', async (name, source, text) => {
  await expect(agentsIn(name, source)).rejects.toThrow(text)
})

it('refuses a file that does not exist', async () => {
  await expect(agentsInModule(join(folder, 'missing.ts'))).rejects.toThrow('there is no file')
})

it('takes no agent file for a module', () => {
  expect(['app.ts', 'app.mjs', 'a.cts', 'agents', 'a.yaml', 'a.json'].map(isModule)).toEqual([
    ...[true, true, true, false, false, false],
  ])
})
