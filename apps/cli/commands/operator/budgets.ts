// weir budget set, list, remove, prices.

import { type Command, Option } from 'commander'
import { by, changing, listing, removal, runs } from './setting-commands.ts'

export function addBudgets(program: Command): void {
  const budget = program.command('budget')

  const set = changing(budget.command('set'))
    .description(
      'Set a budget, effective from the next model request. Replaces a budget with the same tenant, subject, window and unit.',
    )
    .option(
      '--tenant <name>',
      'the tenant; * counts each one; default: default, and * with --agent or --conversation *',
    )
    .option('--agent <name>', 'only this agent; * counts each one')
    .option('--conversation <id>', 'only this conversation; * counts each one')
    .addOption(
      new Option('--window <window>', 'the time after which it begins again, in UTC')
        .choices(['turn', 'day', 'month'])
        .makeOptionMandatory(),
    )
    .option('--tokens <number>', 'no model request starts from this use on')
    .option('--money <amount>', 'the same in money, such as 20USD')
    .option('--soft-tokens <number>', 'an event reports this use')
    .option('--soft-money <amount>', 'the same in money, such as 15USD')
    .addOption(
      new Option(
        '--unpriced <rule>',
        'the rule for models without a known price under --money; default: deny',
      ).choices(['allow', 'deny']),
    )
    .option(...by)
  runs(set, async () => (await import('../../../service/budgets/change.ts')).budgetChange)

  const load = async () => (await import('../../../service/budgets/list.ts')).budgetList
  listing(budget.command('list'), load).description('List the budgets in force and their use.')

  removal(budget.command('remove'), 'budget')

  const prices = changing(budget.command('prices'))
    .description(
      'Set own model prices, in US dollars per million tokens. They win over the known prices. Without a file: remove them.',
    )
    .argument(
      '[file]',
      'a JSON file, such as {"openai-chat/my-model": {"input": 0.5, "output": 1.5}}',
    )
    .option(...by)
  runs(prices, async () => (await import('../../../service/budgets/prices.ts')).pricesChange)
}
