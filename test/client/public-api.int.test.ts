// The public API as the package declares it. A change to it shows up in review as a change to the
// snapshot: run `make test ARGS="public-api -u"` to accept one.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'weir-api-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Without a check of types, which `make types` does. */
beforeAll(() => {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = ['--emitDeclarationOnly', '--noCheck', '--removeComments', '--outDir', folder]
  const project = join(root, 'tsconfig.build.json')
  const { stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', project, ...options], {
    encoding: 'utf8',
  })
  expect(`${stdout}${stderr}`).toBe('')
})

describe('the public API', () => {
  it.each([
    'weir',
    'weir-options',
    'turn/question',
    'agents/agents-in-files',
    'guard/verdict-code',
  ])('declares in client/%s.d.ts exactly the agreed text', (file) => {
    expect(readFileSync(join(folder, 'client', `${file}.d.ts`), 'utf8')).toMatchSnapshot()
  })
})
