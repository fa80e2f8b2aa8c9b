// weir up: the stages.

import { type Command, Option } from 'commander'
import { settingKeys } from '../../../shared/settings/settings.ts'
import { endWith } from '../../terminal/ending.ts'
import { guardModes, listed, withSettings } from './flags.ts'

export function addUp(program: Command): void {
  withSettings(program.command('up'), settingKeys)
    .description(
      'runs stages until SIGTERM or SIGINT: all, or some on Kafka; health and metrics on a port of its own',
    )
    .option('--stages <names>', 'which ones, with commas between them; default: all')
    .option(
      '--guards <folder>',
      'guards that run in this process too: each module in the folder is one',
    )
    .option(
      '--guard <guard>',
      'a single one, by its file or its name, with =OPTIONS as for weir ask; may be given again',
      listed,
    )
    .addOption(
      new Option(
        '--guard-mode <mode>',
        'of these guards; default: as registered, and shadow for a new one',
      ).choices(guardModes),
    )
    .action(async (options) => endWith(await (await import('../../service/up.ts')).up(options)))
}
