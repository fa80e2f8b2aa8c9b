// weir inspect, report, conversations, tail: what happened, from the log or a bundle.

import type { Command } from 'commander'
import { findsConversations } from '../../terminal/ending.ts'
import { bundleOption, listed, settingsBeside, whichBus, withSettings } from './flags.ts'

export function addLook(program: Command): void {
  withSettings(findsConversations(program.command('inspect')), [...whichBus, 'topicPrefix'])
    .description(
      'what happened in a conversation: rounds, calls, verdicts, results, times; also beside a running Weir',
    )
    .argument('<id>', 'the conversation; or a bundle, which weir export made')
    .argument('[conversation]', 'of a bundle: which of its conversations; default: all, as a list')
    .option('--full', 'texts without a limit')
    .option('--reasoning', 'what the model thought, too')
    .option('--json', 'one JSON object; apps/history/inspect/timeline.ts says what is in it')
    .addOption(bundleOption())
    .action(async (id, conversation, options) => {
      const { bundleNamed, inspectAny } = await import('../../history/inspect/inspect.ts')
      return inspectAny(
        id,
        conversation,
        await settingsBeside(bundleNamed(id, options), options),
        options,
        process.stdout,
      )
    })

  withSettings(findsConversations(program.command('report')), [...whichBus, 'topicPrefix'])
    .description(
      'what happened in a conversation as one page for a browser, which needs nothing else; without one: all, with an index',
    )
    .argument(
      '[bundle]',
      'a bundle, which weir export made; default: the log that the settings name',
    )
    .option('--conversation <id>', 'only this conversation; default: the newest ones')
    .option('--turn <number>', 'only this turn of it, as weir inspect numbers them')
    .option('-o, --output <file>', 'the page', 'report.html')
    .option('--force', 'writes over a file that is there')
    .option('--reasoning', 'what the model thought, too')
    .action(async (bundle, options) =>
      (await import('../../report/report.ts')).report(
        { settings: await settingsBeside(bundle, options), bundle, options },
        process.stdout,
      ),
    )

  withSettings(program.command('conversations'), [...whichBus, 'topicPrefix'])
    .description('the conversations that were active last: turns, tokens, how each ended')
    .option('--limit <number>', 'how many', '20')
    .addOption(bundleOption())
    .option(
      '--json',
      'one JSON object a line; apps/history/conversations/summary.ts says what is in it',
    )
    .action(async (options) =>
      (await import('../../history/conversations/conversations.ts')).listConversations(
        await settingsBeside(options.bundle, options),
        options,
        process.stdout,
      ),
    )

  withSettings(program.command('tail'), [...whichBus, 'topicPrefix'])
    .description(
      'the records of a topic, decoded, one JSON object a line; apps/history/tail/record-line.ts says what is in it',
    )
    .argument(
      '<topic>',
      'the topic, such as activity or guard-verdicts.NAME, with or without the prefix of topics',
    )
    .option('--conversation <id>', 'only of this conversation')
    .option(
      '--type <type>',
      'only of this type, such as turn-finished; may be given again for further ones',
      listed,
    )
    .option('--partition <number>', 'only of this partition')
    .option(
      '--from <where>',
      'beginning, end, an offset, or a time; default: beginning, with --follow end',
    )
    .option('--since <time>', "not older than this: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'")
    .option('--until <time>', 'older than this')
    .option('--limit <number>', 'ends after so many')
    .option('--follow', 'goes on with what comes, until Ctrl-C')
    .addOption(bundleOption())
    .action(async (topic, options) =>
      (await import('../../history/tail/tail.ts')).tail(
        topic,
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      ),
    )
}
