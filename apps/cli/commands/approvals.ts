// weir approvals list and rules, approve, reject.

import type { Command } from 'commander'
import { notBlank, settingsOf, whichBus, withSettings } from './flags.ts'

export function addApprovals(program: Command): void {
  const approvals = program
    .command('approvals')
    .description('calls that wait for a person: those that do, and the rules that say which')

  withSettings(approvals.command('list', { isDefault: true }), [...whichBus, 'topicPrefix'])
    .description(
      'the calls that wait, with id, exact arguments, since when and until when; also beside a running Weir',
    )
    .option(
      '--json',
      'one JSON object a line; WaitingApproval in services/approval/approvals.ts says what is in it',
    )
    .action(async (options) =>
      (await import('../../service/approvals/list.ts')).listApprovals(
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )

  withSettings(approvals.command('rules'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .description(
      'which calls wait for a person: puts the rules of a file in force, or shows those that are; weir guard remove approval ends them',
    )
    .argument(
      '[file]',
      'JSON: {"rules": [{"name", "tools", "arguments", "pattern"}], "waitMs"}; docs/guides/approvals.md says more',
    )
    .action(async (file, options) =>
      (await import('../../service/approvals/rules.ts')).approvalRules(
        file,
        await settingsOf(options),
        process.stdout,
      ),
    )

  for (const answer of ['approve', 'reject'] as const) {
    const command = withSettings(program.command(answer), [
      ...whichBus,
      'topicPrefix',
      'logLevel',
      'synchronous',
    ])
      .description(
        answer === 'approve'
          ? 'lets a call run that waits, with exactly the arguments that wait; exit 0: it counts, 4: it was decided before'
          : 'refuses a call that waits; exit 0: it counts, 4: it was decided before',
      )
      .argument('<id>', 'as weir approvals shows it')
      .option('--by <name>', 'who decides; default: the user of this system', notBlank)
    if (answer === 'reject') command.option('--reason <text>', 'why, for the model')
    command.action(async (id, options) => {
      process.exitCode = await (await import('../../service/approvals/decide.ts')).decideApproval(
        answer,
        id,
        options,
        await settingsOf(options),
      )
    })
  }
}
