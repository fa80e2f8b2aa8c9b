// weir stop, stops, release.

import type { Command } from 'commander'
import { notBlank, settingsOf, whichBus, withSettings } from '../flags.ts'

export function addStops(program: Command): void {
  withSettings(program.command('stop'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .option('--all', 'stop all agents')
    .option('--tenant <name>', 'stop the conversations of one tenant')
    .option('--agent <name>', 'stop one agent')
    .option('--tool <pattern>', "refuse calls of these tools, such as 'pay_*'; turns go on")
    .option('--conversation <id>', 'stop one conversation; that of a guest is guest:AGENT:THREAD')
    .option('--drain', 'let running tools and model requests end normally (default)')
    .option('--now', 'stop running tools and model requests too, and end their turns')
    .requiredOption('--reason <text>', 'the reason, for people and models', notBlank)
    .option('--by <name>', 'the name to record; default: the user of this system', notBlank)
    .action(async (options) =>
      (await import('../../../service/stops/change.ts')).stop(
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )

  withSettings(program.command('stops'), [...whichBus, 'topicPrefix'])
    .option('--released', 'list the newest releases instead: id, time and author')
    .option('--json', 'print one JSON object per line; see apps/service/stops/list.ts')
    .action(async (options) =>
      (await import('../../../service/stops/list.ts')).listStops(
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )

  withSettings(program.command('release'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .argument('<id>', 'the id that weir stops shows, such as agent:bank')
    .option('--by <name>', 'the name to record; default: the user of this system', notBlank)
    .action(async (id, options) =>
      (await import('../../../service/stops/change.ts')).release(
        id,
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )
}
