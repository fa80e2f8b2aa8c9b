// `weir policy` on a data folder of the embedded bus with unusable records of another program.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { withRegistry } from '../../../../apps/history/registry.ts'
import { policyChange, policyRemoval, storePolicy } from '../../../../apps/service/policy/change.ts'
import { diffPolicy, policyList } from '../../../../apps/service/policy/shown-policy.ts'
import { changeSetting, listSettings } from '../../../../apps/service/setting-command.ts'
import type { AgentContent } from '../../../../shared/agents/file/content.ts'
import { settingsOf } from '../../../../shared/agents/file/parts/settings-part.ts'
import { defaultPolicy } from '../../../../shared/agents/policy/policy.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { round } from '../../../services/guest/samples.ts'
import { userMessage } from '../../../support/messages.ts'
import { output, printed } from '../../../support/output.ts'

/** Its key is in no variable. */
const helperFile = `name: helper
system: You help.
model: { provider: anthropic, name: scripted, maxOutputTokens: 1000, apiKey: '\${NOT_SET_ANYWHERE}' }
loop: { cycleLaps: 5 }
`

let folder: string
let settings: Settings
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-policy-'))
  settings = readSettings(
    { dataFolder: join(folder, 'data') },
    { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' },
  )
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The output of `weir policy set`, with its warnings. */
async function set(agent: string, changes: string[], agentFile?: string) {
  const [out, errors] = [output(), output()]
  const streams = { out: out.stream, errors: errors.stream }
  await changeSetting(policyChange, { agent, changes, by: 'anna', agentFile }, settings, streams)
  return { out: out.text(), errors: errors.text() }
}

/** A message in the log to an agent with these settings, a second after the one before. */
async function ask(agent: string, content: AgentContent = {}): Promise<void> {
  const message = userMessage({ agent, settings: settingsOf(content) })
  await withRegistry(settings, ({ bus, topicPrefix }) =>
    bus.append([toRecord({ topic: `${topicPrefix}conversation-events`, partition: 0, message })]),
  )
}

const unset = (agent: string, keys: string[], out: NodeJS.WriteStream) =>
  changeSetting(policyRemoval, { agent, keys, by: 'anna' }, settings, { out, errors: out })

const show = (agent?: string) =>
  printed((out) => listSettings(policyList, { agent }, settings, out))

describe('weir policy', () => {
  it('shows the ignored entries of a record and applies none of them', async () => {
    const entries = [
      { key: 'loop.cycleLaps', value: '0' },
      { key: 'loop.identicalFailure', value: '2' },
      { key: 'rule.\u001b[31mred', value: 'shadow' },
    ]
    await withRegistry(settings, (registry) =>
      storePolicy(registry, { agent: 'coder', entries, setBy: 'a program' }),
    )
    const page = await show('coder')
    expect(page).toMatch(/^agent coder: set by a program, /)
    expect(page).toMatch(/loop\.cycleLaps +\? +unknown: .*; Weir's default is 3/)
    expect(page).toMatch(/loop\.identicalFailures +2 +set for this agent/)
    expect(page).toContain('ignored: loop.cycleLaps is 0; must be a whole number from 1 to 1000')
    expect(page).toContain('names no rule')
    expect(page).not.toContain('\u001b')

    await set('coder', ['loop.cycleLaps=4'])
    expect(await show('coder')).toMatch(/loop\.cycleLaps +4 +set for this agent/)
    expect(
      await printed((out) =>
        diffPolicy({ agent: 'coder', changes: ['loop.identicalFailures=2'] }, settings, out),
      ),
    ).toContain('no difference')
    await printed((out) => unset('coder', ['loop.identicalFailures'], out))
    expect(await show('coder')).toMatch(/loop\.identicalFailures +\? +unknown/)
  })

  it("shows the agent's own values of its newest message, and never Weir's default as one", async () => {
    await ask('helper', { caps: { rounds: 9 } })
    await ask('helper', { caps: { rounds: 7 }, loop: { identicalFailures: 2 } })
    await ask('other', { caps: { rounds: 3 } })
    const page = await show('helper')
    expect(page).toMatch(/its own values are those of its newest message in the log, \d{4}-/)
    expect(page).toMatch(/loop\.identicalFailures +2 +the agent's newest message/)
    expect(page).toMatch(/caps\.rounds +7 +the agent's newest message/)
    expect(page).toMatch(/loop\.cycleLaps +3 +Weir's default, and the agent's own value/)

    expect(await set('helper', ['caps.rounds=10'])).toEqual({
      out: 'nothing changes for agent helper\n',
      errors: '',
    })
    expect((await set('helper', ['caps.rounds=5'])).out).toContain(
      "caps.rounds: 7 (the agent's newest message) → 5 (set for this agent)",
    )
    expect((await set('*', ['caps.rounds=4'])).out).toContain(
      "caps.rounds: ? (each agent's own value) → at most 4 (set for all agents)",
    )
    expect(await show('helper')).toMatch(/caps\.rounds +4 +set for all agents/)
    expect(
      await printed((out) =>
        diffPolicy({ agent: 'helper', changes: ['loop.cycleLaps=3'] }, settings, out),
      ),
    ).toBe('no difference for agent helper\n')
  })

  it("counts the operator's caps", async () => {
    await ask('helper', { caps: { rounds: 7 } })
    await withRegistry(settings, async ({ bus, topicPrefix }) => {
      const caps = { ...defaultPolicy.caps, rounds: 6, tokens: 500 }
      const message = { type: 'operator-limits', caps } as const
      await bus.append([toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })])
    })
    const page = await show('helper')
    expect(page).toMatch(/caps\.rounds +6 +the operator's caps/)
    expect(page).toMatch(/caps\.tokens +500 +the operator's caps/)
  })

  it('reads the agent file with --agent, which wins over the log and needs no key', async () => {
    await ask('helper', { caps: { rounds: 7 } })
    const file = join(folder, 'helper.yaml')
    writeFileSync(file, helperFile)
    const page = await printed((out) =>
      listSettings(policyList, { agent: 'helper', agentFile: file }, settings, out),
    )
    expect(page).toContain(`its own values are those of ${file}`)
    expect(page).toMatch(/loop\.cycleLaps +5 +agent file/)
    expect(page).toMatch(/caps\.rounds +25 +Weir's default/)
    expect((await set('helper', ['loop.cycleLaps=5'], file)).out).toContain('nothing changes')
    await expect(set('coder', ['loop.cycleLaps=5'], file)).rejects.toMatchObject({
      code: 'usage',
      message: `--agent ${file} has no agent coder; it has helper`,
    })
    await expect(set('*', ['loop.cycleLaps=5'], file)).rejects.toMatchObject({ code: 'usage' })
  })

  it('shows the own values of a guest, from its newest round or from its file', async () => {
    const own = settingsOf({ caps: { rounds: 9 } })
    const message = { ...round('a.1', { agent: 'claude-code', settings: own }) }
    await withRegistry(settings, ({ bus, topicPrefix }) =>
      bus.append([toRecord({ topic: `${topicPrefix}guest-events`, partition: 0, message })]),
    )
    expect(await show('claude-code')).toMatch(/caps\.rounds +9 +the agent's newest message/)
    expect((await set('claude-cod', ['loop.cycleLaps=4'])).errors).toContain(
      '; did you mean claude-code?',
    )
    const file = join(folder, 'claude-code.yaml')
    writeFileSync(file, 'name: claude-code\nguest: true\nloop: { cycleLaps: 5 }\n')
    const page = await printed((out) =>
      listSettings(policyList, { agent: 'claude-code', agentFile: file }, settings, out),
    )
    expect(page).toMatch(/loop\.cycleLaps +5 +agent file/)
    await expect(set('coder', ['loop.cycleLaps=5'], file)).rejects.toMatchObject({
      message: `--agent ${file} has no agent coder; it has claude-code`,
    })
  })

  it('warns of an agent that no message names, with the nearest one', async () => {
    const nothing = await set('coder', ['loop.cycleLaps=4'])
    expect(nothing.errors).toMatch(
      /^weir: warning: no message to an agent coder and no round of such a guest is in the log\. /,
    )
    await ask('helper')
    expect((await set('helpr', ['loop.cycleLaps=4'])).errors).toContain('; did you mean helper?')
    expect((await set('helper', ['loop.cycleLaps=4'])).errors).toBe('')
    expect((await set('*', ['loop.cycleLaps=4'])).errors).toBe('')
  })

  it.each(['Bad Name!', 'Coder', '', ' ', '-x', 'a'.repeat(65), '**'])(
    'refuses a bad agent name: %j',
    async (name) => {
      const accepted = "must be 1 to 64 of a-z, 0-9 and -, not beginning with -, or '*' for all"
      const refused = { code: 'usage', message: expect.stringContaining(accepted) }
      await expect(set(name, ['loop.cycleLaps=4'])).rejects.toMatchObject(refused)
      await expect(
        printed((out) => diffPolicy({ agent: name, changes: [] }, settings, out)),
      ).rejects.toMatchObject(refused)
    },
  )

  it('removes a foreign record, and names it where it cannot continue', async () => {
    await withRegistry(settings, async ({ bus, topicPrefix }) => {
      const value = encode({ type: 'operator-limits', caps: defaultPolicy.caps })
      await bus.append([
        { topic: `${topicPrefix}policies`, partition: 0, key: 'policy:coder', value },
      ])
    })
    await expect(show()).rejects.toMatchObject({
      code: 'policies.unreadable',
      message: expect.stringContaining('remove it with weir policy unset coder'),
    })
    await printed((out) => unset('coder', [], out))
    expect(await show()).toContain('nothing is set for any agent')
  })
})
