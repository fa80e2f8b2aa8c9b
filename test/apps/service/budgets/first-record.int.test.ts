// `weir budget set` and `weir budget prices` in a folder where Weir has not run yet.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { budgetChange } from '../../../../apps/service/budgets/change.ts'
import { budgetList } from '../../../../apps/service/budgets/list.ts'
import { pricesChange } from '../../../../apps/service/budgets/prices.ts'
import { changeSetting, listSettings } from '../../../../apps/service/setting-command.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'

let folder: string
let settings: Settings
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-budgets-'))
  settings = readSettings({ dataFolder: join(folder, 'data'), logLevel: 'silent' }, {})
})
afterEach(() => rmSync(folder, { recursive: true }))

const output = () => new PassThrough() as unknown as NodeJS.WriteStream & PassThrough

describe('a data folder without a log', () => {
  it('takes a budget as its first record, and warns about a conversation without messages', async () => {
    const [out, errors] = [output(), output()]
    const budget = { window: 'turn', tokens: '1', conversation: 'order-7' } as const
    await changeSetting(budgetChange, budget, settings, { out, errors })
    expect(String(errors.read())).toBe('weir: warning: no conversation order-7 is in the log\n')
    const listed = output()
    await listSettings(budgetList, { json: true }, settings, listed)
    expect(String(listed.read())).toContain('default/conversation:order-7/turn/tokens')
  })

  it('takes prices as its first record', async () => {
    const file = join(folder, 'prices.json')
    writeFileSync(file, '{ "openai-chat/m": { "input": 1, "output": 2 } }')
    const out = output()
    await changeSetting(pricesChange, { file }, settings, { out, errors: out })
    expect(String(out.read())).toContain('1 price set, effective from the next model request')
  })
})
