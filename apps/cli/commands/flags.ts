// Flags that several commands share. `commander` is all that is loaded to name them: what a command
// does is loaded when it is used.

import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  flagOf,
  type SettingKey,
  type Settings,
  settingTable,
} from '../../../shared/settings/settings.ts'
import type { SettingFlags } from '../../terminal/command-settings.ts'

/** The bus of a command that may be asked to work over any. */
export const whichBus: SettingKey[] = [
  'bus',
  'dataFolder',
  'bootstrapServer',
  'commandConfig',
  'commandProperty',
]

/** How long what is written is kept. */
export const keeping: SettingKey[] = ['retention', 'toleratedDowntime']

export const guardModes = ['shadow', 'enforce']

/** Adds the flags of these settings to a command. */
export function withSettings(command: Command, keys: SettingKey[]): Command {
  command.option(
    '--config <file>',
    'the settings file (WEIR_CONFIG; default weir.yaml or weir.json here, if there is one)',
  )
  for (const key of keys) {
    const { variable, description, unit, schema } = settingTable[key]
    const range = schema.enum ? `: ${schema.enum.join(', ')}` : ''
    const flag = `--${flagOf(key)} <${unit ?? 'value'}>`
    const text = `${description}${range} (${variable}; default ${typeof schema.default === 'object' || schema.default === '' ? 'none' : schema.default})`
    if (schema.type === 'properties') command.option(flag, text, listed)
    else command.option(flag, text)
  }
  return command
}

/** For a command that looks at a log. */
export function bundleOption(): Option {
  return new Option(
    '--bundle <file>',
    'looks into this file, which weir export made, instead of the log',
  )
}

/** The value of an option that is given once: which of two was meant nobody knows. */
export function once(value: string, earlier: string | undefined): string {
  if (earlier !== undefined)
    throw new InvalidArgumentError(`It is given twice, before as ${earlier}.`)
  return value
}

/** The values of an option that may be given more than once. */
export function listed(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}

export function notBlank(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It is empty.')
  return value
}

/**
 * As settingsOf, for a command that looks at a log, or at a bundle in its place; undefined: at the
 * log. Throws `usage` where flags name a log beside it.
 */
export async function settingsBeside(
  bundle: string | undefined,
  flags: SettingFlags,
): Promise<Settings> {
  const { commandSettings, refuseLogBeside } = await import('../../terminal/command-settings.ts')
  if (bundle !== undefined) refuseLogBeside(bundle, flags)
  return commandSettings(flags)
}

/** Throws `settings.invalid`. */
export async function settingsOf(flags: SettingFlags): Promise<Settings> {
  const { commandSettings } = await import('../../terminal/command-settings.ts')
  return commandSettings(flags)
}
