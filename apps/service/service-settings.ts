// The settings of a command that runs a service.

import { type Settings, valuesOf } from '../../shared/settings/settings.ts'
import { commandSettingsWithOrigins, type SettingFlags } from '../terminal/command-settings.ts'

/** Operators read the logs of services, so the default level is `info`. Throws `settings.invalid`. */
export function serviceSettings(flags: SettingFlags): Settings {
  const found = commandSettingsWithOrigins(flags)
  const settings = valuesOf(found)
  return found.logLevel.origin.kind === 'default' ? { ...settings, logLevel: 'info' } : settings
}

/** The partitions that a flag, a variable or a file sets. Undefined: only the default does. */
export function partitionsSetBy(flags: SettingFlags): number | undefined {
  const { value, origin } = commandSettingsWithOrigins(flags).partitions
  return origin.kind === 'default' ? undefined : Number(value)
}
