import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { summaryFolderVariable } from '../../run/summary.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-test-runner-'))
const root = join(import.meta.dirname, '..', '..', '..')
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js')

afterAll(() => rmSync(folder, { recursive: true }))

type Outcome = {
  passed: string[]
  failures: string
  /** The end of the run, as a person sees it. */
  printed: string
  pids: Record<string, string>
}

/** Runs these files, as JavaScript by name, on one worker in this order, and no other file. */
async function runFiles(
  files: Record<string, string>,
  environment: Record<string, string> = {},
): Promise<Outcome> {
  const own = mkdtempSync(join(folder, 'files-'))
  const sequencer = join(folder, 'in-order.cjs')
  writeFileSync(
    sequencer,
    'module.exports = class { sort = (tests) => tests.sort(byPath) ; shard = (tests) => tests; cacheResults() {}; allFailedTests = () => [] }\nconst byPath = (a, b) => (a.path < b.path ? -1 : 1)\n',
  )
  for (const [name, source] of Object.entries(files))
    writeFileSync(
      join(own, `${name}.test.mjs`),
      `import { it, jest } from '@jest/globals'\nconsole.log('${name} in', process.pid)\n${source}\n`,
    )
  const config = {
    rootDir: root,
    roots: [own],
    testMatch: [`${own}/*.test.mjs`],
    transform: {},
    testSequencer: sequencer,
    runner: join(root, 'test/support/jest/runner.ts'),
    setupFiles: [join(root, 'test/support/jest/modules.ts')],
    globalSetup: join(root, 'test/support/kafka/run-setup.ts'),
    reporters: [join(root, 'test/support/jest/reporter.ts')],
  }
  const output = join(own, 'results.json')
  const args = ['--config', JSON.stringify(config), '-w', '1', '--json', '--outputFile', output]
  // The run around this one keeps its own summary.
  const env = { ...process.env, [summaryFolderVariable]: undefined, ...environment }
  const [out, errors] = await new Promise<string[]>((resolve) =>
    execFile(process.execPath, [jest, ...args], { cwd: root, env }, (_, ...both) => resolve(both)),
  )
  const { default: results } = await import(output, { with: { type: 'json' } })
  const all = results.testResults as { name: string; status: string; message: string }[]
  return {
    passed: all.filter(({ status }) => status === 'passed').map(({ name }) => basename(name)),
    failures: all.map(({ message }) => message).join('\n'),
    printed: errors ?? '',
    pids: Object.fromEntries(
      [...(out ?? '').matchAll(/^(\w+) in (\d+)$/gm)].map(([, name = '', pid = '']) => [name, pid]),
    ),
  }
}

describe('The runner of tests', () => {
  it('runs files one after another in one process, and another one after a test that hangs or a worker that dies.', async () => {
    const { passed, failures, pids } = await runFiles({
      a: `it('passes.', () => {})`,
      b: `jest.setTimeout(100); it('hangs.', () => new Promise(() => {}))`,
      c: `it('passes.', () => {})`,
      d: `it('dies.', () => { process.exit() })`,
      e: `it('passes.', () => {})`,
    })

    expect(passed.sort()).toEqual(['a.test.mjs', 'c.test.mjs', 'e.test.mjs'])
    expect(failures).toContain('It took longer than 100 ms.')
    expect(failures).toContain('Worker exited unexpectedly')
    expect(pids.b).toBe(pids.a)
    expect(pids.d).toBe(pids.c)
    expect(new Set([pids.a, pids.c, pids.e]).size).toBe(3)
  })
  it('ends with the table of a tier, and with the command, the seed and the logs of a failed test.', async () => {
    const failing = `import { spawn } from 'node:child_process'
import { once } from 'node:events'
it('passes.', () => {})
it('fails (once).', async () => {
  await once(spawn('echo', ['from the process']), 'close')
  throw new Error('no')
})`
    const environment = { WEIR_TEST_TIER: 'int', WEIR_TEST_SEED: '7' }
    const { printed } = await runFiles({ a: failing, b: `it('passes.', () => {})` }, environment)
    expect(printed).toContain('Failed with seed 7. To repeat one alone:')
    expect(printed).toMatch(
      /^ +WEIR_TEST_SEED=7 make test ARGS='-t "fails \.once\.\." \S+a\.test\.mjs'$/m,
    )
    const [, logs = ''] = /logs of its processes: (.+)/.exec(printed) ?? []
    expect(existsSync(logs)).toBe(true)
    rmSync(dirname(logs), { recursive: true })
    expect(printed).toMatch(
      /^tier +passed +failed +skipped +seconds +CPU +seconds +CPU +slowest files$/m,
    )
    expect(printed).toMatch(
      /^int +2 +1 +0 +\d+ +\d+ +\d+\.\d +\d+\.\d +\S+\.test\.mjs\n +\d+\.\d +\d+\.\d +\S+\.test\.mjs$/m,
    )
  })
})
