// The settings of a command: its flags, the environment, the settings file of the working folder or the one that is named, and defaults.

import type { SettingFlagValues, SettingKey, Settings, SettingValue } from '../../shared/settings.ts'
import { readSettings, settingsWithOrigins } from '../../shared/settings.ts'
import type { SettingsFile } from '../../shared/settings-file.ts'
import { findSettingsFile } from '../../shared/settings-file.ts'

/** `config`: the settings file. */
export type SettingFlags = SettingFlagValues & { config?: string }

/** Throws `settings.invalid`. */
export function commandSettings(flags: SettingFlags): Settings {
  return readSettings(flags, process.env, fileOf(flags))
}

/** As commandSettings, with where each value came from. */
export function commandSettingsWithOrigins(flags: SettingFlags): Record<SettingKey, SettingValue> {
  return settingsWithOrigins(flags, process.env, fileOf(flags))
}

function fileOf({ config }: SettingFlags): SettingsFile | undefined {
  return findSettingsFile({ config, environment: process.env, folder: process.cwd() })
}
