// weir up: run the stages.

import { type Command, Option } from 'commander'
import { settingKeys } from '../../../shared/settings/settings.ts'
import { endWith } from '../../terminal/ending.ts'
import { guardModes, listed, runImportedFlag, withSettings } from './flags.ts'

export function addUp(program: Command): void {
  withSettings(program.command('up'), settingKeys)
    .description(
      'Run stages until SIGTERM or SIGINT: all of them, or some on Kafka. Serves health and metrics on its own port.',
    )
    .option('--stages <names>', 'the stages to run, separated by commas; default: all')
    .option(
      '--guards <folder>',
      'also run the guards in this folder in this process: each module is one guard',
    )
    .option(
      '--guard <guard>',
      'also run this guard, a file or a name, with =OPTIONS as for weir ask; repeat for more',
      listed,
    )
    .addOption(
      new Option(
        '--guard-mode <mode>',
        'the mode of these guards; default: as registered, and shadow for a new guard',
      ).choices(guardModes),
    )
    .option(...runImportedFlag)
    .action(async (options) => endWith(await (await import('../../service/up.ts')).up(options)))
}
