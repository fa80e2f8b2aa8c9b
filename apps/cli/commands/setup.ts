// weir init, settings, doctor: commands for setup.

import { type Command, Option } from 'commander'
import { settingKeys } from '../../../shared/settings/settings.ts'
import { answers } from '../../terminal/text/ending.ts'
import { templateNames } from '../init/template-names.ts'
import { withSettings } from './flags.ts'

export function addSetup(program: Command): void {
  program
    .command('init')
    .argument('[folder]', 'the folder to write to', '.')
    .addOption(
      new Option('--template <name>', 'an agent file, or a project in TypeScript with a test')
        .choices(templateNames)
        .default(templateNames[0]),
    )
    .action(async (folder, { template }) =>
      (await import('../init/init.ts')).init(folder, template, process.env, process.stdout),
    )

  withSettings(program.command('settings'), settingKeys)
    .option('--json', 'print one JSON object, by setting')
    .action(async (options) =>
      (await import('../settings.ts')).showSettings(options, options, process.stdout),
    )

  withSettings(
    answers(program.command('doctor'), { yes: 'no problem found', no: 'a problem found' }),
    settingKeys,
  )
    .option(
      '--agent <file>',
      'an agent file, or a folder of them; default: agent.yaml in this folder, if there is one',
    )
    .option('--online', 'also check that models and tool servers can be reached')
    .action(async (options) => {
      process.exitCode = await (await import('../../service/doctor/doctor.ts')).doctor(
        options,
        process.stdout,
      )
    })
}
