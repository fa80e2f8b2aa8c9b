// The commands of approval over a data folder of the embedded bus that nobody else has open.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { withRegistry } from '../../../../apps/history/registry.ts'
import { rulesChange, showRules } from '../../../../apps/service/approvals/rules.ts'
import { changeSetting } from '../../../../apps/service/setting-command.ts'
import { approvalRegistration } from '../../../../services/approval/performer/registration.ts'
import { switchGuard, writeRegistration } from '../../../../shared/runtime/guards/guard-registry.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { output, printed } from '../../../support/output.ts'

const rules = [{ name: 'all', tools: ['act'] }]

let folder: string
let settings: Settings
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-approvals-'))
  settings = readSettings(
    { dataFolder: join(folder, 'data') },
    { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' },
  )
  file = join(folder, 'rules.json')
  writeFileSync(file, JSON.stringify({ rules }))
})
afterEach(() => rmSync(folder, { recursive: true }))

const set = () =>
  printed((out) => changeSetting(rulesChange, { file }, settings, { out, errors: out }))

describe('weir approvals rules', () => {
  it('reports that switched-off rules are in force again', async () => {
    expect(await set()).not.toContain('switched off')
    expect(await set()).not.toContain('switched off')
    await withRegistry(settings, (registry) =>
      switchGuard(registry, 'approval', { mode: 'shadow', by: 'test' }),
    )
    expect(await set()).toContain('some rules were switched off until now; all are in force now')
  })

  it('reports unreadable rules with the remedy', async () => {
    await withRegistry(settings, (registry) =>
      writeRegistration(registry, { ...approvalRegistration({ rules }), rules: '[{' }, 'test'),
    )
    const shown = showRules(settings, output().stream)
    await expect(shown).rejects.toMatchObject({
      code: 'policies.unreadable',
      message: expect.stringContaining('weir guard remove approval'),
    })
  })
})
