// The settings of a command: its flags, the environment, the settings file of the working folder or
// the one that is named, and defaults.

import { WeirError } from '../../shared/lib/errors.ts'
import { alternatives } from '../../shared/settings/mistake.ts'
import {
  flagOf,
  readSettings,
  type SettingFlagValues,
  type SettingKey,
  type Settings,
  type SettingsFile,
  type SettingValue,
  settingsWithOrigins,
} from '../../shared/settings/settings.ts'
import { findSettingsFile } from '../../shared/settings/settings-file.ts'

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

/** All that says which log is meant. */
const ofLog: SettingKey[] = [
  'bus',
  'dataFolder',
  'bootstrapServer',
  'commandConfig',
  'commandProperty',
  'topicPrefix',
]

/**
 * Throws `usage` where flags name a log beside a bundle: one of the two would not be read, and
 * nobody would be told. What the environment or a settings file says is there for other commands
 * too, and stands back.
 */
export function refuseLogBeside(bundle: string, flags: SettingFlags): void {
  const given = ofLog.filter((key) => flags[key] !== undefined).map((key) => `--${flagOf(key)}`)
  if (given.length === 0) return
  const named = alternatives(given, 'and')
  throw new WeirError(
    'usage',
    `${named} and the bundle ${bundle} are given, and only one log is read: leave out ${named} to read the bundle, or the bundle to read the log`,
  )
}

function fileOf({ config }: SettingFlags): SettingsFile | undefined {
  return findSettingsFile({ config, environment: process.env, folder: process.cwd() })
}
