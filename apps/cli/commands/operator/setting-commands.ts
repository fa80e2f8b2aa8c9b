// The parts that the commands for an operator's settings share.

import type { Command } from 'commander'
import type { OperatorSetting } from '../../../../shared/runtime/settings/operator-setting.ts'
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

/** The command that removes a setting by its id. */
export function removal(
  command: Command,
  [argument, text]: readonly [string, string],
  setting: () => Promise<OperatorSetting>,
): Command {
  return changing(command)
    .argument(argument, text)
    .option(...by)
    .action(async (id, options) => {
      const { removeOperatorSetting } = await import('../../../service/remove-setting.ts')
      const settings = await settingsOf(options)
      await removeOperatorSetting(await setting(), id, options, settings, process.stdout)
    })
}
