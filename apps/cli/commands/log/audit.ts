// weir audit.

import { type Command, Option } from 'commander'
import { withExitCodes } from '../../../terminal/exit-codes.ts'
import { once, settingsOf, unredactedOption, whichBus, withSettings } from '../flags.ts'

export function addAudit(program: Command): void {
  const audit = withExitCodes(program.command('audit'), [
    { code: 0, meaning: 'done, or no fault with --verify' },
    { code: 1, meaning: 'a fault with --verify, or failed' },
    { code: 3, meaning: 'no fault and no proof with --verify' },
  ])
  withSettings(audit, [...whichBus, 'topicPrefix'])
    .option('--since <time>', "only since this time: 2026-07-29T10:12:03Z, 2026-07-29, '30d ago'")
    .option('--until <time>', 'only before this time')
    .option('--by <name>', 'only of this person, such as key:ann')
    .option('--tool <name>', 'only decisions about calls of this tool')
    .option(
      '--kind <kind>',
      'only this kind: approval, question, stop, budget, guard, policy, prices, key, deletion, title, other',
    )
    .option('--tenant <name>', 'only of this tenant')
    .option('--verify', 'check the chains instead: name changed, missing and moved records')
    .option('--expect <head>', 'with --verify: the head that an earlier check printed', once)
    .addOption(unredactedOption())
    .option('--json', 'print one JSON object per line')
    .addOption(
      new Option('--format <format>', 'print one line for another system').choices(['ocsf', 'cef']),
    )
    .action(async (options) => {
      const settings = await settingsOf(options)
      if (options.verify === true || options.expect !== undefined) {
        const { verifyAudit } = await import('../../../history/audit/verify.ts')
        process.exitCode = await verifyAudit(options, settings, process.stdout)
        return
      }
      await (await import('../../../history/audit/audit.ts')).audit(options, settings)
    })
}
