// `weir policy` on a data folder of the embedded bus with unusable records of another program.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { withRegistry } from '../../../../apps/history/registry.ts'
import { setPolicy, unsetPolicy } from '../../../../apps/service/policy/change.ts'
import { diffPolicy, getPolicy } from '../../../../apps/service/policy/shown-policy.ts'
import { storePolicy } from '../../../../apps/service/policy/stored.ts'
import { defaultPolicy } from '../../../../shared/agents/agents.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'

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

async function said(command: (out: NodeJS.WriteStream) => Promise<unknown>): Promise<string> {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  await command(stream as unknown as NodeJS.WriteStream)
  return text
}

const show = (agent?: string) => said((out) => getPolicy(agent, {}, settings, out))

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
    expect(page).toMatch(/loop\.cycleLaps +3 +default or agent file/)
    expect(page).toMatch(/loop\.identicalFailures +2 +set for this agent/)
    expect(page).toContain('ignored: loop.cycleLaps is 0; must be a whole number from 1 to 1000')
    expect(page).toContain('names no rule')
    expect(page).not.toContain('\u001b')

    await said((out) =>
      setPolicy('coder', { changes: ['loop.cycleLaps=4'], by: 'anna' }, settings, out),
    )
    expect(await show('coder')).toMatch(/loop\.cycleLaps +4 +set for this agent/)
    expect(
      await said((out) =>
        diffPolicy('coder', { changes: ['loop.identicalFailures=2'] }, settings, out),
      ),
    ).toContain('no difference')
    await said((out) =>
      unsetPolicy('coder', ['loop.identicalFailures'], { by: 'anna' }, settings, out),
    )
    expect(await show('coder')).toMatch(/loop\.identicalFailures +3 +default or agent file/)
  })

  it.each(['Bad Name!', 'Coder', '', ' ', '-x', 'a'.repeat(65), '**'])(
    'refuses a bad agent name: %j',
    async (name) => {
      const accepted = "must be 1 to 64 of a-z, 0-9 and -, not beginning with -, or '*' for all"
      const refused = { code: 'usage', message: expect.stringContaining(accepted) }
      await expect(
        said((out) => setPolicy(name, { changes: ['loop.cycleLaps=4'] }, settings, out)),
      ).rejects.toMatchObject(refused)
      await expect(
        said((out) => diffPolicy(name, { changes: [] }, settings, out)),
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
      message: expect.stringContaining("remove it with weir policy unset 'coder'"),
    })
    await said((out) => unsetPolicy('coder', [], {}, settings, out))
    expect(await show()).toContain('nothing is set for any agent')
  })
})
