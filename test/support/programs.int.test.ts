// The programs that tests start are those of the sources (keeps PROGRAMS-1).

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { contentHash } from './program-sources.ts'
import { weirCommand } from './programs.ts'

const root = join(import.meta.dirname, '..', '..')
const tree = mkdtempSync(join(tmpdir(), 'weir-tree-'))
afterAll(() => rmSync(tree, { recursive: true }))

describe('the programs that tests start', () => {
  it.each([
    'apps/cli/main.ts',
    'apps/page/kit/colours.css',
    'client/weir.ts',
    'services/stages.ts',
    'shared/agents/file/agent.schema.json',
    'schemas/lock.json',
    'bin/bundle.ts',
    'package.json',
    'apps/cli/init/templates/typescript/.gitignore.template',
    'node_modules/.package-lock.json',
    'test/support/weir-process.ts',
  ])('have another folder after a change of %s', (file) => {
    const path = join(tree, file)
    mkdirSync(dirname(path), { recursive: true })
    cpSync(join(root, file), path)
    const before = contentHash(tree)
    expect(contentHash(tree)).toBe(before)
    writeFileSync(path, `${readFileSync(path, 'utf8')} `)
    expect(contentHash(tree)).not.toBe(before)
  })

  it('are one bundle with the version of the checkout', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(weirCommand).toContain(contentHash(root))
    expect(execFileSync(weirCommand, ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`)
  })

  it('load the server of HTTP without the client of fetch (keeps BUNDLE-4)', () => {
    const report = `data:text/javascript,process.on('exit', () => console.error(process.moduleLoadList.join()))`
    const command = [weirCommand, ['conversations', '--data-folder', tree]] as const
    const environment = {
      PATH: process.env.PATH,
      NODE_OPTIONS: `--import=${report.replaceAll(' ', '%20')}`,
    }
    const { stderr } = spawnSync(...command, { encoding: 'utf8', env: environment })
    expect(stderr).toContain('NativeModule http,')
    expect(stderr).not.toContain('undici')
  })
})
