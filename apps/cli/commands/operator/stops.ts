// weir stop, stops, release.

import type { Command } from 'commander'
import { notBlank } from '../flags.ts'
import { by, changing, listing, removal, runs } from './setting-commands.ts'

export function addStops(program: Command): void {
  const stop = changing(program.command('stop'))
    .option('--all', 'stop all agents')
    .option('--tenant <name>', 'stop the conversations of one tenant')
    .option('--agent <name>', 'stop one agent')
    .option('--tool <pattern>', "deny calls of these tools, such as 'pay_*'; turns go on")
    .option('--conversation <id>', 'stop one conversation; that of a guest is guest:AGENT:THREAD')
    .option('--tree <id>', 'stop a conversation, its root and all that their calls began')
    .option('--drain', 'let running tools and model requests end normally (default)')
    .option('--now', 'stop running tools and model requests too, and end their turns')
    .requiredOption('--reason <text>', 'the reason, for people and models', notBlank)
    .option(...by)
  runs(stop, async () => (await import('../../../service/stops/change.ts')).stopChange)

  listing(program.command('stops'), async (options: { released?: boolean }) =>
    (await import('../../../service/stops/list.ts')).stopListOf(options),
  ).option('--released', 'list the newest releases instead: id, time and author')

  removal(program.command('release'), 'stop')
}
