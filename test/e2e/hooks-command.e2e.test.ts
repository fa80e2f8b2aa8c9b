// `weir hooks` as a user runs it in a shell.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
beforeAll(async () => {
  commands = await openCommandFolder(() => ({ kind: 'hangup' }))
})
afterAll(() => commands.close())

function hooks(...args: string[]) {
  const environment = { HOME: commands.folder, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '' }
  return commands.run(['hooks', ...args, '--program', 'no-such-program'], { environment })
}

describe('weir hooks', () => {
  it('installs hooks, shows them, and removes them', async () => {
    expect((await hooks('status', 'codex')).code).toBe(1)
    const unanswered = await hooks('install', 'codex')
    expect([unanswered.code, unanswered.out]).toEqual([1, expect.stringContaining('Add --yes')])
    expect((await hooks('install', 'codex', '--yes')).code).toBe(0)
    const settings = JSON.parse(await readFile(join(commands.folder, '.codex/hooks.json'), 'utf8'))
    expect(Object.keys(settings.hooks)).toContain('PreToolUse')
    const status = await hooks('status', 'codex')
    expect([status.code, status.out]).toEqual([0, expect.stringContaining('Not protected')])
    expect((await hooks('remove', 'codex', '--yes')).code).toBe(0)
    expect((await hooks('status', 'codex')).code).toBe(1)
  })

  it('names the nearest host of an unknown one', async () => {
    const { code, errors } = await hooks('install', 'claude')
    expect([code, errors]).toEqual([2, expect.stringContaining('unknown host "claude"')])
  })
})
