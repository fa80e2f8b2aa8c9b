// weir audit.

import type { Command } from 'commander'
import { settingsOf, unredactedOption, whichBus, withSettings } from '../flags.ts'

export function addAudit(program: Command): void {
  withSettings(program.command('audit'), [...whichBus, 'topicPrefix'])
    .option('--since <time>', "only since this time: 2026-07-29T10:12:03Z, 2026-07-29, '30d ago'")
    .option('--until <time>', 'only before this time')
    .option('--by <name>', 'only of this person, such as key:ann')
    .option('--tool <name>', 'only decisions about calls of this tool')
    .option(
      '--kind <kind>',
      'only this kind: approval, question, stop, budget, guard, policy, prices, key, other',
    )
    .option('--tenant <name>', 'only of this tenant')
    .addOption(unredactedOption())
    .option(
      '--json',
      'print one JSON object per line; see AuditEntry in shared/view/audit/entries.ts',
    )
    .action(async (options) =>
      (await import('../../../history/audit/audit.ts')).audit(
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )
}
