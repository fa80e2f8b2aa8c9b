// weir forget.

import type { Command } from 'commander'
import { findsConversations } from '../../../terminal/text/ending.ts'
import { settingsOf, whichBus, withSettings } from '../flags.ts'
import { by } from '../operator/setting-commands.ts'

export function addForget(program: Command): void {
  const forget = findsConversations(program.command('forget'), 'you answered no')
  withSettings(forget, [...whichBus, 'topicPrefix', 'logLevel', 'retentionDays', 'synchronous'])
    .option('--conversation <id>', 'one conversation; that of a guest is guest:AGENT:THREAD')
    .option(
      '--user <name>',
      'the conversations in which a user wrote: see user of weir.ask, or the subject of a token',
    )
    .option(
      '--tenant <name>',
      'all conversations of one tenant; with --user: the tenant of the user, default by default',
    )
    .option(...by)
    .option('--dry-run', 'delete nothing: list the conversations')
    .option('--yes', 'delete without a question')
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      process.exitCode = await (await import('../../../service/forget/forget.ts')).forget(
        options,
        await settingsOf(options),
      )
    })
}
