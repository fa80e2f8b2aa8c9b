import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'

const folder = mkdtempSync(join(tmpdir(), 'weir-test-runner-'))
const root = join(import.meta.dirname, '..', '..', '..')
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js')

afterAll(() => rmSync(folder, { recursive: true }))

type Outcome = {
  passed: string[]
  failures: string
  pids: Record<string, string>
}

/** Runs these files, as JavaScript by name, on one worker in this order. */
async function runFiles(files: Record<string, string>): Promise<Outcome> {
  const sequencer = join(folder, 'in-order.cjs')
  writeFileSync(
    sequencer,
    'module.exports = class { sort = (tests) => tests.sort(byPath) ; shard = (tests) => tests; cacheResults() {}; allFailedTests = () => [] }\nconst byPath = (a, b) => (a.path < b.path ? -1 : 1)\n',
  )
  for (const [name, source] of Object.entries(files))
    writeFileSync(
      join(folder, `${name}.test.mjs`),
      `import { it, jest } from '@jest/globals'\nconsole.log('${name} in', process.pid)\n${source}\n`,
    )
  const config = {
    rootDir: folder,
    testMatch: ['<rootDir>/*.test.mjs'],
    transform: {},
    testSequencer: sequencer,
    runner: join(root, 'test/support/jest/runner.ts'),
    setupFiles: [join(root, 'test/support/jest/modules.ts')],
  }
  const output = join(folder, 'results.json')
  const args = ['--config', JSON.stringify(config), '-w', '1', '--json', '--outputFile', output]
  const printed = await new Promise<string>((resolve) =>
    execFile(process.execPath, [jest, ...args], { cwd: folder }, (_, stdout) => resolve(stdout)),
  )
  const { default: results } = await import(output, { with: { type: 'json' } })
  const all = results.testResults as { name: string; status: string; message: string }[]
  return {
    passed: all.filter(({ status }) => status === 'passed').map(({ name }) => name),
    failures: all.map(({ message }) => message).join('\n'),
    pids: Object.fromEntries(
      [...printed.matchAll(/^(\w+) in (\d+)$/gm)].map(([, name = '', pid = '']) => [name, pid]),
    ),
  }
}

describe('The runner of tests', () => {
  it('runs files one after another in one process, and another one behind a test that hangs or a worker that dies.', async () => {
    const { passed, failures, pids } = await runFiles({
      a: `it('passes.', () => {})`,
      b: `jest.setTimeout(100); it('hangs.', () => new Promise(() => {}))`,
      c: `it('passes.', () => {})`,
      d: `it('dies.', () => { process.exit() })`,
      e: `it('passes.', () => {})`,
    })

    expect(passed.map((path) => path.slice(folder.length + 1))).toEqual(
      expect.arrayContaining(['a.test.mjs', 'c.test.mjs', 'e.test.mjs']),
    )
    expect(passed).toHaveLength(3)
    expect(failures).toContain('It took longer than 100 ms.')
    expect(failures).toContain('Worker exited unexpectedly')
    expect(pids.b).toBe(pids.a)
    expect(pids.d).toBe(pids.c)
    expect(new Set([pids.a, pids.c, pids.e]).size).toBe(3)
  })
})
