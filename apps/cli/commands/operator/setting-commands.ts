// The parts that the commands for an operator's settings share.

import type { Command } from 'commander'
import { type SettingKind, settingWords } from '../../../../shared/settings/setting-words.ts'
import { notBlank, settingsOf, whichBus, withSettings } from '../flags.ts'

/** The author of a change. */
export const by = [
  '--by <name>',
  'the name to record; default: the user of this system',
  notBlank,
] as const

/** A command that shows settings. */
export function reading(command: Command): Command {
  return withSettings(command, [...whichBus, 'topicPrefix'])
}

/** A command that changes one. */
export function changing(command: Command): Command {
  return withSettings(command, [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
}

/** The command that removes a setting of this kind by its id. */
export function removal(command: Command, kind: SettingKind): void {
  const { argument, help } = settingWords[kind]
  changing(command)
    .description(help)
    .argument(...argument)
    .option(...by)
    .action(async (id, options) => {
      const { removeOperatorSetting } = await import('../../../service/remove-setting.ts')
      await removeOperatorSetting(kind, id, options, await settingsOf(options), process.stdout)
    })
}
