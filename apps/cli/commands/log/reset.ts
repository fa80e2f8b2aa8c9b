// weir reset.

import type { Command } from 'commander'
import { answers } from '../../../terminal/text/ending.ts'
import { settingsOf, whichBus, withSettings } from '../flags.ts'

export function addReset(program: Command): void {
  const damage = { yes: 'no commit is outside its log', no: 'a commit is' }
  withSettings(answers(program.command('reset'), damage), [...whichBus, 'topicPrefix'])
    .option('--stage <name>', 'only this stage')
    .option('--partition <number>', 'only this partition of the stage')
    .option('--all', 'delete all topics and consumer groups together, with all conversations')
    .option('--yes', 'change it; without this flag the command only prints')
    .action(async (options) => {
      const { reset } = await import('../../../service/reset/reset.ts')
      process.exitCode = await reset(options, await settingsOf(options), process.stdout)
    })
}
