// weir policy set, get, diff, unset.

import type { Command } from 'commander'
import { answers } from '../../terminal/ending.ts'
import { notBlank, settingsOf, whichBus, withSettings } from './flags.ts'

export function addPolicy(program: Command): void {
  const policy = program
    .command('policy')
    .description(
      "thresholds, caps and modes of rules over those of agent files, from the next model response on; AGENT is a name, or '*' for all",
    )

  withSettings(policy.command('set'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .description('sets some and keeps what else is set; beside a running Weir, without a restart')
    .argument('<agent>', "the agent's name, or '*' for all")
    .argument(
      '[changes...]',
      'KEY=VALUE: loop.identicalFailures=2, rule.cycle=shadow, rule.cycle=enforce, caps.rounds=10',
    )
    .option('--file <file>', 'JSON, by key, in the place of all that is set for the agent')
    .option('--by <name>', 'who sets it, for people; default: the user of this system', notBlank)
    .option(
      '--json',
      'what changes, one JSON object a line; apps/service/policy/difference.ts says what is in it',
    )
    .action(async (agent, changes, options) =>
      (await import('../../service/policy/change.ts')).setPolicy(
        agent,
        { changes, ...options },
        await settingsOf(options),
        process.stdout,
      ),
    )

  withSettings(policy.command('get'), [...whichBus, 'topicPrefix'])
    .description('what is set for agents; of one agent every value with its origin')
    .argument('[agent]', "the agent's name, or '*' for what is set for all")
    .option('--json', 'one JSON object a line; apps/service/policy/look.ts says what is in it')
    .action(async (agent, options) =>
      (await import('../../service/policy/look.ts')).getPolicy(
        agent,
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )

  withSettings(
    answers(policy.command('diff'), { yes: 'nothing would change', no: 'something would' }),
    [...whichBus, 'topicPrefix'],
  )
    .description('what changes would come to; without them, what is set for the agent changes')
    .argument('<agent>', "the agent's name, or '*' for all")
    .argument('[changes...]', 'KEY=VALUE, as for weir policy set')
    .option('--file <file>', 'JSON, by key, in the place of all that is set for the agent')
    .option(
      '--json',
      'one JSON object a line; apps/service/policy/difference.ts says what is in it',
    )
    .action(async (agent, changes, options) => {
      process.exitCode = await (await import('../../service/policy/look.ts')).diffPolicy(
        agent,
        { changes, ...options },
        await settingsOf(options),
        process.stdout,
      )
    })

  withSettings(policy.command('unset'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .description('takes back what was set, so that the agent file counts again')
    .argument('<agent>', "the agent's name, or '*' for what is set for all")
    .argument('[keys...]', 'which; default: all')
    .option('--by <name>', 'who does it, for people; default: the user of this system', notBlank)
    .option(
      '--json',
      'what changes, one JSON object a line; apps/service/policy/difference.ts says what is in it',
    )
    .action(async (agent, keys, options) =>
      (await import('../../service/policy/change.ts')).unsetPolicy(
        agent,
        keys,
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )
}
