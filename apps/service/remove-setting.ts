// `weir release`, `weir budget remove`, `weir guard remove`: each removes one setting of an operator.

import { personHere } from '../../services/approval/performer/person.ts'
import {
  type OperatorSetting,
  removeStored,
} from '../../shared/runtime/settings/operator-setting.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { withExistingRegistry } from '../history/registry.ts'
import { printable } from '../terminal/text/printable.ts'

/** Throws the setting's error for an unknown id. */
export async function removeOperatorSetting(
  setting: OperatorSetting,
  id: string,
  { by = personHere() }: { by?: string },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  await withExistingRegistry(settings, (table) => removeStored(setting, table, { id, by }))
  out.write(`${printable(id)} is ${setting.effect(id)}\n`)
}
