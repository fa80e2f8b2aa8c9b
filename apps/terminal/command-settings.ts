// The settings of a command: from its flags, the environment, the settings file that was named or
// found in the working folder, and the defaults.

import { withPartitionsOfLog } from '../../shared/bus/partitions-of-log.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { noteFoundFolder } from '../../shared/lib/files/folder-owner.ts'
import { alternatives } from '../../shared/settings/mistake.ts'
import {
  type CommandValues,
  flagOf,
  type SettingFlagValues,
  type SettingKey,
  type Settings,
  type SettingsFile,
  type SettingValue,
  settingsWithOrigins,
  valuesOf,
} from '../../shared/settings/settings.ts'
import { findSettingsFile } from '../../shared/settings/settings-file.ts'

/** `config`: the settings file. */
export type SettingFlags = SettingFlagValues & { config?: string }

/** `command`: values that the command itself sets. Throws `settings.invalid`. */
export function commandSettings(flags: SettingFlags, command?: CommandValues): Settings {
  return valuesOf(withOrigins(flags, command))
}

/** As commandSettings, with the origin of each value. */
export function commandSettingsWithOrigins(flags: SettingFlags): Record<SettingKey, SettingValue> {
  return withOrigins(flags)
}

/** A data folder of a file that was only found is only found itself. */
function withOrigins(
  flags: SettingFlags,
  command?: CommandValues,
): Record<SettingKey, SettingValue> {
  const file = fileOf(flags)
  const values = settingsWithOrigins(flags, process.env, file, command)
  const { value, origin } = values.dataFolder
  if (origin.kind === 'default' || (origin.kind === 'file' && file?.isFound === true))
    noteFoundFolder(String(value), 'command')
  return withPartitionsOfLog(values)
}

/** The settings that select a log. */
const logKeys: SettingKey[] = [
  'bus',
  'dataFolder',
  'bootstrapServer',
  'commandConfig',
  'commandProperty',
  'topicPrefix',
]

/**
 * Throws `usage` if flags select a log next to a bundle, because only one of the two would be read.
 * The environment and the settings file also serve other commands, so their values are ignored
 * silently.
 */
export function refuseLogBeside(bundle: string, flags: SettingFlags): void {
  const given = logKeys.filter((key) => flags[key] !== undefined).map((key) => `--${flagOf(key)}`)
  if (given.length === 0) return
  const named = alternatives(given, 'and')
  throw usageError(
    `${named} and the bundle ${bundle} exclude each other: leave out ${named} to read the bundle, or the bundle to read the log`,
  )
}

function fileOf({ config }: SettingFlags): SettingsFile | undefined {
  return findSettingsFile({ config, environment: process.env, folder: process.cwd() })
}
