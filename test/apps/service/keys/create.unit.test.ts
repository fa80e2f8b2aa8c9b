import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { createKeys } from '../../../../apps/service/keys/create.ts'
import { stageNames } from '../../../../shared/contract/topology.ts'
import { output } from '../../../support/output.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-create-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('writes a file for each stage, for the outsiders and for each guard', () => {
  const { stream, text } = output()
  createKeys(folder, { guard: ['shell'] }, stream)
  const principals = [...stageNames, 'edge', 'front', 'approver', 'operator', 'guard.shell']
  const expected = ['root.key', ...principals.map((name) => `${name}.json`)]
  expect(readdirSync(folder).toSorted()).toEqual(expected.toSorted())
  expect(text()).toContain('generation 1: wrote intake.json, conversation.json')
})

it('begins the next generation only if you rotate', () => {
  const { stream, text } = output()
  for (const rotate of [false, false, true]) createKeys(folder, { rotate }, stream)
  expect(text().match(/generation \d/g)).toEqual(['generation 1', 'generation 1', 'generation 2'])
})

it('refuses a name that no guard can have', () => {
  const { stream } = output()
  expect(() => createKeys(folder, { guard: ['../edge'] }, stream)).toThrow('no guard can have')
})
