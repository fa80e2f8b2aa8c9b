// weir approvals list and rules, allow, deny.

import type { Command } from 'commander'
import { withExitCodes } from '../../../terminal/exit-codes.ts'
import { settingsOf } from '../flags.ts'
import { by, changing, listing } from './setting-commands.ts'

export function addApprovals(program: Command): void {
  const approvals = program.command('approvals')

  const load = async () => (await import('../../../service/approvals/list.ts')).approvalList
  const list = approvals.command('list', { isDefault: true })
  listing(list, load).description(
    "List the waiting calls: id, exact arguments, the wait's start and end. Works while Weir runs.",
  )

  changing(approvals.command('rules'))
    .description(
      'Show the rules for calls that wait for a person, or set them from a file. weir guard remove approval removes them.',
    )
    .argument(
      '[file]',
      'JSON: {"rules": [{"name", "tools", "arguments", "pattern"}], "waitMs"}; see docs/guard/approvals.md',
    )
    .option(...by)
    .action(async (file, options) => {
      const settings = await settingsOf(options)
      const { rulesChange, showRules } = await import('../../../service/approvals/rules.ts')
      const { changeSetting } = await import('../../../service/setting-command.ts')
      if (file === undefined) await showRules(settings, process.stdout)
      else await changeSetting(rulesChange, { file, ...options }, settings)
    })

  for (const answer of ['allow', 'deny'] as const) {
    const command = withExitCodes(changing(program.command(answer)), [
      { code: 0, meaning: 'your decision counts' },
      { code: 4, meaning: 'somebody decided earlier' },
    ])
      .argument('<id>', 'the id that weir approvals shows')
      .option(...by)
    if (answer === 'allow')
      command.option('--values <json>', 'the answer to a question of a tool, as a JSON object')
    if (answer === 'deny') command.option('--reason <text>', 'the reason, for the model')
    command.action(async (id, options) => {
      process.exitCode = await (
        await import('../../../service/approvals/decide.ts')
      ).decideApproval(answer, id, options, await settingsOf(options))
    })
  }
}
