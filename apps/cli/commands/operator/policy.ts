// weir policy set, get, diff, unset.

import type { Command } from 'commander'
import { settingWords } from '../../../../shared/settings/setting-words.ts'
import { answers } from '../../../terminal/text/ending.ts'
import { settingsOf, whichBus, withSettings } from '../flags.ts'
import { by, changing, listing, runs } from './setting-commands.ts'

const agentFile: [string, string] = [
  '--agent <file>',
  "the agent file with the agent's own values; default: its newest message in the log",
]

export function addPolicy(program: Command): void {
  const policy = program.command('policy')

  const set = changing(policy.command('set'))
    .description('Set values and keep the others. Works while Weir runs, without a restart.')
    .argument('<agent>', "the agent's name, or '*' for all")
    .argument(
      '[changes...]',
      'KEY=VALUE: loop.identicalFailures=2, rule.cycle=shadow, rule.cycle=enforce, caps.rounds=10',
    )
    .option('--file <file>', 'JSON by key; replaces all values that are set for the agent')
    .option(...agentFile)
    .option(...by)
    .option('--json', 'print the changes, one JSON object per line')
  runs(set, async () => (await import('../../../service/policy/change.ts')).policyChange, fileOf)

  const get = policy
    .command('get')
    .description("Show all agents' set values, or an agent's values with their origin.")
    .argument('[agent]', "the agent's name, or '*' for the values for all agents")
    .option(...agentFile)
  const load = async () => (await import('../../../service/policy/shown-policy.ts')).policyList
  listing(get, load, fileOf)

  withSettings(
    answers(policy.command('diff'), { yes: 'there is no difference', no: 'there is a difference' }),
    [...whichBus, 'topicPrefix'],
  )
    .description(
      'Show the effect that changes have. Without changes, show the effect that the set values have.',
    )
    .argument('<agent>', "the agent's name, or '*' for all")
    .argument('[changes...]', 'KEY=VALUE, as for weir policy set')
    .option('--file <file>', 'JSON by key; replaces all values that are set for the agent')
    .option(...agentFile)
    .option('--json', 'print one JSON object per line')
    .action(async (agent, changes, options) => {
      process.exitCode = await (await import('../../../service/policy/shown-policy.ts')).diffPolicy(
        { ...fileOf(options), agent, changes },
        await settingsOf(options),
        process.stdout,
      )
    })

  const unset = changing(policy.command('unset'))
    .description(settingWords.policy.help)
    .argument(...settingWords.policy.argument)
    .argument('[keys...]', 'the keys to remove; default: all')
    .option(...agentFile)
    .option(...by)
    .option('--json', 'print the changes, one JSON object per line')
  runs(unset, async () => (await import('../../../service/policy/change.ts')).policyRemoval, fileOf)
}

/** `agent` is the name of an argument already. */
function fileOf({ agent, ...options }: { agent?: string }) {
  return { ...options, agentFile: agent }
}
