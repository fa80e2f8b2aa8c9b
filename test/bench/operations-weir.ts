// The loop of library-weir.ts under a budget or with encrypted records, set up by the functions of
// the commands. Prices are those of a file, because the model of the bench has none.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { budgetChange } from '../../apps/service/budgets/change.ts'
import { pricesChange } from '../../apps/service/budgets/prices.ts'
import { changeTenantKeys } from '../../apps/service/keys/tenant.ts'
import { changeSetting } from '../../apps/service/setting-command.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { openWeirLibrary } from './library-weir.ts'
import type { Loop } from './measured-loop.ts'

export type Operation = 'token-budget' | 'money-budget' | 'encryption'

/** The amounts are never reached. `folder`: for the files of prices and keys. */
export async function openWeirUnder(
  operation: Operation,
  { url, dataFolder, folder }: { url: string; dataFolder: string; folder: string },
): Promise<Loop> {
  const out = new PassThrough() as unknown as NodeJS.WriteStream
  const streams = { out, errors: out }
  if (operation === 'encryption') {
    const file = join(folder, 'keys.json')
    changeTenantKeys('*', { file }, out)
    return openWeirLibrary(url, dataFolder, { encryptionKeys: file })
  }
  const loop = await openWeirLibrary(url, dataFolder)
  const settings = readSettings({ dataFolder }, {})
  const budget = { tenant: 'default', window: 'day' } as const
  if (operation === 'token-budget')
    await changeSetting(budgetChange, { ...budget, tokens: '1000000000000' }, settings, streams)
  else {
    const file = join(folder, 'prices.json')
    writeFileSync(file, JSON.stringify({ 'openai-chat/bench': { input: 0.5, output: 1.5 } }))
    await changeSetting(pricesChange, { file }, settings, streams)
    await changeSetting(budgetChange, { ...budget, money: '1000000USD' }, settings, streams)
  }
  return loop
}
