// One rule for unusable files in all commands (TERMINAL-ENDING-1, TERMINAL-ENDING-2).

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { weirCommand } from '../../support/programs.ts'
import { bundleFile } from '../replay/bundled-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-exit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  const whole = readFileSync(bundleFile('i3-no-termination'))
  writeFileSync(join(folder, 'cut.weir'), whole.subarray(0, whole.length / 2))
  const flipped = Buffer.from(whole)
  flipped[5_000] = (flipped[5_000] as number) ^ 1
  writeFileSync(join(folder, 'flipped.weir'), flipped)
  writeFileSync(join(folder, 'there.html'), 'mine')
})

async function run(...args: string[]): Promise<{ code: number | null; errors: string }> {
  const child = spawn(weirCommand, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  return { code, errors }
}

describe('a truncated bundle', () => {
  it.each([
    [['inspect', 'cut.weir']],
    [['report', 'cut.weir', '-o', 'new.html']],
    [['export', '--bundle', 'cut.weir', '-o', 'new.weir']],
    [['import', 'cut.weir', '--data-folder', 'new']],
    [['judge', 'cut.weir']],
    [['replay', 'cut.weir']],
  ])(
    'makes weir %j end with 2 and leaves no file',
    async (args) => {
      expect(await run(...args)).toEqual({
        code: 2,
        errors: expect.stringMatching(/cut\.weir is damaged: it is truncated: \d+ of \d+ bytes/),
      })
      expect(readdirSync(folder).sort()).toEqual(['cut.weir', 'flipped.weir', 'there.html'])
    },
    120_000,
  )
})

describe('a misspelled option', () => {
  it('is named with the one that was meant, before any option that is missing', async () => {
    expect(await run('ask', '--agnet', 'agent.yaml', 'hello')).toEqual({
      code: 2,
      errors: expect.stringMatching(/unknown option '--agnet'\n\(Did you mean --agent\?\)/),
    })
  })

  it('does not hide a required option that is missing', async () => {
    expect(await run('ask', 'hello')).toEqual({
      code: 2,
      errors: expect.stringContaining("required option '--agent <file>' not specified"),
    })
  })
})

describe('a bundle next to flags that select a log', () => {
  const bundle = bundleFile('i3-no-termination')
  it.each([
    [['inspect', bundle, '--data-folder', 'd'], '--data-folder'],
    [['inspect', 'c', '--bundle', bundle, '--data-folder', 'd'], '--data-folder'],
    [['report', bundle, '--bus', 'embedded', '-o', 'new.html'], '--bus'],
    [
      ['replay', bundle, '--bus', 'kafka', '--bootstrap-server', 'k:9092'],
      '--bus and --bootstrap-server',
    ],
    [['export', '--bundle', bundle, '--topic-prefix', 'p.', '-o', 'new.weir'], '--topic-prefix'],
    [['dead-letters', 'list', '--bundle', bundle, '--data-folder', 'd'], '--data-folder'],
    [['conversations', '--bundle', bundle, '--data-folder', 'd'], '--data-folder'],
    [['tail', 'activity', '--bundle', bundle, '--data-folder', 'd'], '--data-folder'],
  ])(
    'makes weir %j end with 2 and names the flags to leave out',
    async (args, flags) => {
      const words = `leave out ${flags} to read the bundle, or the bundle to read the log`
      expect(await run(...args)).toEqual({ code: 2, errors: expect.stringContaining(words) })
    },
    120_000,
  )
})

describe('an unusable folder', () => {
  it.each([
    [['inspect', 'c', '--data-folder', 'nowhere'], 'there is no log at nowhere'],
    [['report', '-o', 'new.html', '--data-folder', 'nowhere'], 'there is no log at nowhere'],
    [['export', '-o', 'new.weir', '--data-folder', 'nowhere'], 'there is no log at nowhere'],
    [['dead-letters', '--data-folder', 'nowhere'], 'there is no log at nowhere'],
    [['replay', '--data-folder', 'nowhere'], 'there is no log at nowhere'],
    [
      ['import', bundleFile('i3-no-termination'), '--data-folder', 'there.html/d'],
      'the data folder there.html/d is a file, or a part of its path is',
    ],
    [
      ['export', '--bundle', bundleFile('i3-no-termination'), '-o', 'there.html/new.weir'],
      'there.html/new.weir cannot be written',
    ],
  ])(
    'makes weir %j end with 2',
    async (args, words) => {
      expect(await run(...args)).toEqual({ code: 2, errors: expect.stringContaining(words) })
    },
    120_000,
  )
})

it('an unknown conversation ends a command with 1, and the error names the command that lists all', async () => {
  expect(await run('inspect', bundleFile('i3-no-termination'), 'quite-another')).toEqual({
    code: 1,
    errors: expect.stringMatching(
      /there is no conversation quite-another; the newest are .* \(weir conversations --bundle \S+\.weir lists more\)\n$/,
    ),
  })
}, 120_000)

it('an unknown conversation ends weir forget with 1, as the commands that only read', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-exit-log-'))
  try {
    const log = ['--data-folder', join(dataFolder, 'log')]
    expect((await run('import', bundleFile('i3-no-termination'), ...log)).code).toBe(0)
    expect(await run('forget', '--conversation', 'nope', '--yes', ...log)).toEqual({
      code: 1,
      errors: expect.stringContaining('there is no conversation nope'),
    })
  } finally {
    rmSync(dataFolder, { recursive: true, force: true })
  }
}, 120_000)

it('a flipped byte or an existing file ends a command with 2, and so does a failure if 1 is an answer', async () => {
  const results = await Promise.all([
    run('inspect', 'flipped.weir'),
    run('report', bundleFile('i3-no-termination'), '-o', 'there.html'),
    run('policy', 'diff', '*', '--data-folder', 'nowhere'),
  ])
  expect(results).toEqual([
    {
      code: 2,
      errors: expect.stringContaining(
        'flipped.weir is damaged: its content has changed since the export',
      ),
    },
    { code: 2, errors: expect.stringContaining('there.html exists already') },
    { code: 2, errors: expect.stringContaining('there is no log at nowhere') },
  ])
}, 120_000)

it('--help of weir and of each command lists the exit codes', async () => {
  const said = async (...args: string[]) => {
    const child = spawn(weirCommand, [...args, '--help'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    for await (const piece of child.stdout.setEncoding('utf8')) text += piece
    return text
  }
  expect(await said()).toContain('Exit codes:\n0 done, or the answer is yes.')
  expect(await said('inspect')).toContain(
    'Exit codes: 0 done; 1 no such conversation, or failed; 2 unusable flags,',
  )
  expect(await said('judge')).toContain(
    'Exit codes: 0 all match their labels, or none has a label; 1 a scenario does not; 2 failed, also bad usage.',
  )
}, 120_000)
