// Flags that several commands share. Loads only `commander`: a command's code loads when it runs.
// This folder has the commands' names, flags and help. Not here: the work of a command, which
// apps/service, apps/history and others do.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { guardModes } from '../../../shared/contract/guard/guard.ts'
import {
  flagOf,
  type SettingKey,
  type Settings,
  settingTable,
} from '../../../shared/settings/settings.ts'
import type { SettingFlags } from '../../terminal/command-settings.ts'
import { settingsHeading } from '../help-style.ts'

/** The settings that select the bus. */
export const whichBus: SettingKey[] = [
  'bus',
  'dataFolder',
  'bootstrapServer',
  'commandConfig',
  'commandProperty',
  'plaintextPassword',
  'recordSigning',
  'traceHeaders',
  'encryptionKeys',
  'encryptionCommand',
]

/** The settings that define how long records are kept. */
export const keeping: SettingKey[] = ['retentionDays', 'auditDays', 'toleratedDowntimeDays']

/** The settings of a command that runs stages for itself, or finds them on Kafka. */
export const ownStages: SettingKey[] = [
  ...whichBus,
  'topicPrefix',
  'logLevel',
  'partitions',
  ...keeping,
  'synchronous',
  'dataFolderBytesMax',
]

export function withSettings(command: Command, keys: SettingKey[]): Command {
  const add = (flag: string, text: string) => new Option(flag, text).helpGroup(settingsHeading)
  command.addOption(
    add(
      '--config <file>',
      'the settings file (WEIR_CONFIG; default: weir.yaml or weir.json in this folder, if there is one)',
    ),
  )
  for (const key of keys) {
    const { variable, description, unit, schema, defaultOf } = settingTable[key]
    const range = schema.enum ? `: ${schema.enum.join(', ')}` : ''
    const flag = `--${flagOf(key)} <${unit ?? 'value'}>`
    const byDefault =
      typeof schema.default === 'object' || schema.default === '' ? 'none' : schema.default
    const onBuses = Object.entries(defaultOf ?? {}).map(([bus, value]) => `, ${value} on ${bus}`)
    const text = `${description}${range} (${variable}; default ${byDefault}${onBuses.join('')})`
    const option = add(flag, text)
    command.addOption(schema.type === 'properties' ? option.argParser(listed) : option)
  }
  return command
}

/** For a command that runs stages. */
export const runImportedFlag = [
  '--run-imported',
  'run also on a log that weir import made; its writer chose its policies, rules and history',
] as const

/** For a command that prints replies. */
export const rawFlag = [
  '--raw',
  'in a file or a pipe, write replies with their control characters, byte for byte',
] as const

/** For a command that runs guards. `target`: completes "the mode". */
export function guardModeOption(flag = '--guard-mode', target = 'of these guards'): Option {
  const text = `the mode ${target}; default: as registered, and shadow for a new guard`
  return new Option(`${flag} <mode>`, text).choices(guardModes)
}

/** For a command that reads a log. */
export function bundleOption(): Option {
  return new Option('--bundle <file>', 'read this bundle from weir export instead of the log')
}

/** For a command that shows texts of a log. */
export function unredactedOption(): Option {
  return new Option('--unredacted', 'show the values that the rules of agents hide (redact)')
}

/** Conditions on turns (shared/view/filter/turn-filter.ts), the same for each command. */
export function withConditions(command: Command): Command {
  return command
    .option(
      '--text <words>',
      'only turns with these words; "..." for a phrase; repeat for more',
      listed,
    )
    .option(
      '--where <key=value>',
      'only turns with this: tool=NAME, rule=cycle, guard=NAME, outcome=failed, agent=NAME, tenant=NAME, tree=ID, intervention=any, call=denied, failureClass=no-progress, cap=rounds, minTokens=100000, minCost=0.5USD, longerThan=5m; repeat for more',
      listed,
    )
}

/** The same with a time. */
export function withFilter(command: Command): Command {
  return withConditions(command)
    .option(
      '--since <time>',
      "only turns that were active at this time or later: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'",
    )
    .option('--until <time>', 'only turns that began before this time')
}

export function sortOption(): Option {
  return new Option(
    '--sort <by>',
    'the most first: time (the newest, the default), cost, tokens, duration',
  )
}

/** The value of an option that may be given once. With two values, the intent is unclear. */
export function once(value: string, earlier: string | undefined): string {
  if (earlier !== undefined)
    throw new InvalidArgumentError(`Give it once. It was already set to ${earlier}.`)
  return value
}

/** The values of an option that may be repeated. */
export function listed(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}

export function notBlank(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It is empty.')
  return value
}

/**
 * As settingsOf, for a command that reads a log or a bundle. Undefined: it reads the log. Throws
 * `usage` if there is a bundle and flags that select a log.
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
