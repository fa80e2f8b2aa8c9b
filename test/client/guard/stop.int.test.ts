// A guest of a data folder while `weir stop` and `weir release` run next to it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { changeSetting, removalOf } from '../../../apps/service/setting-command.ts'
import { type StopOptions, stopChange } from '../../../apps/service/stops/change.ts'
import { openGuard } from '../../../client/guard/guard.ts'
import type { GuardSession } from '../../../client/guard/guest-conversation.ts'
import { readSettings, type Settings } from '../../../shared/settings/settings.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Said, saidCall } from '../../support/guest-requests.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

let folder: string
let settings: Settings
let guard: GuardSession
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-guest-stop-'))
  const dataFolder = join(folder, 'data')
  settings = readSettings({ dataFolder }, { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' })
  guard = await openGuard({ agent: 'coder', answerWithinMs: waitMaxMs, dataFolder })
})
afterEach(async () => {
  await guard.close()
  rmSync(folder, { recursive: true })
})

const tools = [declarationOf('exec', '', { type: 'object' })]
const asked = (responses: Said[]) => requestOf('anthropic', [{ user: 'Go.', responses }], tools)
const said = saidCall('exec', { command: 'ls' }, { id: 'c', result: 'a.ts' })
const streams = () => ({ out: new PassThrough() as never, errors: new PassThrough() as never })
const set = (options: Partial<StopOptions>) =>
  changeSetting(stopChange, { reason: 'wrong files', by: 'anna', ...options }, settings, streams())

describe('a guest whose agent an operator stopped', () => {
  it('gets the advice end and a refused call, and goes on after the release', async () => {
    const conversation = guard.conversation('t')
    await set({ agent: 'coder' })
    expect(await conversation.beforeModel(asked([]))).toMatchObject({
      action: 'end',
      reason: 'an operator stopped agent "coder": wrong files',
      judged: true,
    })
    const [refused] = await conversation.afterModel(answerOf(asked([]), said))
    expect(refused).toMatchObject({
      verdict: 'deny',
      text: 'This call was not run: an operator stopped agent "coder": wrong files.',
    })

    await changeSetting(removalOf('stop'), { id: 'agent:coder' }, settings, streams())
    const other = guard.conversation('u')
    expect(await other.beforeModel(asked([]))).toMatchObject({ action: 'none' })
    expect(await other.afterModel(answerOf(asked([]), said))).toMatchObject([{ verdict: 'allow' }])
  })

  it('gets a refused call and no advice to end if only the tool is stopped', async () => {
    const conversation = guard.conversation('t')
    await set({ tool: 'ex*' })
    expect(await conversation.beforeModel(asked([]))).toMatchObject({ action: 'none' })
    const [refused] = await conversation.afterModel(answerOf(asked([]), said))
    expect(refused).toMatchObject({
      verdict: 'deny',
      text: expect.stringContaining('an operator stopped tool "ex*": wrong files'),
    })
  })

  it('goes on if another conversation is stopped', async () => {
    await set({ conversation: 'guest:coder:t' })
    const actionOf = async (id: string) =>
      (await guard.conversation(id).beforeModel(asked([]))).action
    expect([await actionOf('t'), await actionOf('u')]).toEqual(['end', 'none'])
  })

  it('ends with its tree, also if the stop names a child or the child begins after the stop', async () => {
    const actionOf = async (...of: Parameters<GuardSession['conversation']>) =>
      (await guard.conversation(...of).beforeModel(asked([]))).action
    expect(await actionOf('t')).toBe('none')
    expect(await actionOf('t:a', { root: 't' })).toBe('none')
    await set({ tree: 'guest:coder:t:a' })
    expect(await actionOf('t')).toBe('end')
    expect(await actionOf('t:a', { root: 't' })).toBe('end')
    expect(await actionOf('t:b', { root: 't' })).toBe('end')
    expect(await actionOf('x', { parent: 't:b' })).toBe('end')
    expect(await actionOf('u')).toBe('none')
    await expect(actionOf('u', { parent: '' })).rejects.toThrow(
      'parent of the conversation is ""; must be the id of another conversation',
    )
  })
})
