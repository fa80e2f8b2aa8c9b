// The log of a command that serves fronts, from its flags.

import type { FrontsPlace } from '../../client/guard/log/guest-log.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { type Settings, valuesOf } from '../../shared/settings/settings.ts'
import { commandSettingsWithOrigins, type SettingFlags } from '../terminal/command-settings.ts'

/** Without a place for the log it is in memory: nothing is written. */
export function frontsPlaceOf(flags: SettingFlags): Place {
  const found = commandSettingsWithOrigins(flags)
  const settings = valuesOf(found)
  const isNamed = found.dataFolder.origin.kind !== 'default'
  const folder = isNamed ? settings.dataFolder : undefined
  if (!busKindOf(settings).isLocal) return { kind: 'shared', settings, folder }
  return { kind: isNamed ? 'folder' : 'memory', settings, folder }
}

/** `folder`: the data folder, if it is named. */
type Place = {
  kind: FrontsPlace['kind'] | 'memory'
  settings: Settings
  folder: string | undefined
}
