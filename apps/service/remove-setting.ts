// `weir release`, `weir budget remove`, `weir guard remove`: each removes one setting of an operator.

import { personHere } from '../../services/approval/performer/person.ts'
import { removeStored } from '../../shared/runtime/settings/operator-setting.ts'
import { type SettingKind, settingWords } from '../../shared/settings/setting-words.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { withExistingRegistry } from '../history/registry.ts'
import { printable } from '../terminal/text/printable.ts'
import { operatorSettings } from './operator-settings.ts'

/** Throws the setting's error for an unknown id. */
export async function removeOperatorSetting(
  kind: SettingKind,
  id: string,
  { by = personHere() }: { by?: string },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const setting = operatorSettings[kind]
  await withExistingRegistry(settings, (table) => removeStored(setting, table, { id, by }))
  const { removed, effect } = settingWords[kind]
  out.write(`${printable(id)} is ${removed}: ${effect(id)}\n`)
}
