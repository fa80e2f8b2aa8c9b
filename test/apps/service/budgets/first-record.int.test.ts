// `weir budget set` and `weir budget prices` in a folder where Weir has not run yet.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { budgetChange } from '../../../../apps/service/budgets/change.ts'
import { budgetList } from '../../../../apps/service/budgets/list.ts'
import { pricesChange } from '../../../../apps/service/budgets/prices.ts'
import { changeSetting, listSettings } from '../../../../apps/service/setting-command.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { output, printed } from '../../../support/output.ts'

let folder: string
let settings: Settings
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-budgets-'))
  settings = readSettings({ dataFolder: join(folder, 'data'), logLevel: 'silent' }, {})
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a data folder without a log', () => {
  it('takes a budget as its first record, and warns about a conversation without messages', async () => {
    const budget = { window: 'turn', tokens: '1', conversation: 'order-7' } as const
    const warned = await printed((errors) =>
      changeSetting(budgetChange, budget, settings, { out: output().stream, errors }),
    )
    expect(warned).toBe('weir: warning: no conversation order-7 is in the log\n')
    const listed = printed((out) => listSettings(budgetList, { json: true }, settings, out))
    expect(await listed).toContain('default/conversation:order-7/turn/tokens')
  })

  it('takes prices as its first record', async () => {
    const file = join(folder, 'prices.json')
    writeFileSync(file, '{ "openai-chat/m": { "input": 1, "output": 2 } }')
    const set = printed((out) =>
      changeSetting(pricesChange, { file }, settings, { out, errors: out }),
    )
    expect(await set).toContain('1 price set, effective from the next model request')
  })
})
