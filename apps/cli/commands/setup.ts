// weir init, settings, doctor: before the first turn.

import type { Command } from 'commander'
import { settingKeys } from '../../../shared/settings/settings.ts'
import { answers } from '../../terminal/ending.ts'
import { withSettings } from './flags.ts'

export function addSetup(program: Command): void {
  program
    .command('init')
    .description('writes an agent file and tools to start from; never over a file that is there')
    .argument('[folder]', 'where to', '.')
    .action(async (folder) =>
      (await import('../init/init.ts')).init(folder, process.env, process.stdout),
    )

  withSettings(program.command('settings'), settingKeys)
    .description('every setting: its value, where that comes from, what it means')
    .option('--json', 'one JSON object, by setting')
    .action(async (options) =>
      (await import('../settings.ts')).showSettings(options, options, process.stdout),
    )

  withSettings(
    answers(program.command('doctor'), { yes: 'nothing is wrong', no: 'something is' }),
    settingKeys,
  )
    .description('what is missing or odd on this machine, with the remedy')
    .option(
      '--agent <file>',
      'an agent file, or a folder of them; default: agent.yaml, if it is here',
    )
    .option('--online', 'also asks whether models and servers of tools can be reached')
    .action(async (options) => {
      process.exitCode = await (await import('../../service/doctor/doctor.ts')).doctor(
        options,
        process.stdout,
      )
    })
}
