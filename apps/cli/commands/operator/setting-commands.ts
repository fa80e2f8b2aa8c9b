// The parts that the commands for an operator's settings share.

import type { Command } from 'commander'
import { type SettingKind, settingWords } from '../../../../shared/settings/setting-words.ts'
import type { Settings } from '../../../../shared/settings/settings.ts'
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

type List = (options: object, settings: Settings, out: NodeJS.WriteStream) => Promise<void>

/** The command that lists the settings of one kind. `file`: has the type of its JSON. */
export function listing(command: Command, file: string, load: () => Promise<List>): Command {
  return reading(command)
    .option('--json', `print one JSON object per line; see apps/service/${file}`)
    .action(async (options) => (await load())(options, await settingsOf(options), process.stdout))
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
