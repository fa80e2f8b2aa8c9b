// weir inspect, report, conversations, tail: show the history in a log or a bundle.
// This folder has the commands that read, copy or repair a log. Not here: the commands of operators
// (../operator), and the work (apps/history).

import type { Command } from 'commander'
import { findsConversations } from '../../../terminal/text/ending.ts'
import {
  bundleOption,
  listed,
  settingsBeside,
  sortOption,
  unredactedOption,
  whichBus,
  withFilter,
  withSettings,
} from '../flags.ts'

export function addHistory(program: Command): void {
  withSettings(findsConversations(program.command('inspect')), [...whichBus, 'topicPrefix'])
    .argument('<id>', 'the conversation; or a bundle from weir export')
    .argument('[conversation]', 'a conversation in the bundle; default: list all')
    .option('--full', 'do not shorten texts')
    .addOption(unredactedOption())
    .option('--reasoning', "include the model's reasoning")
    .option('--json', 'print one JSON object')
    .addOption(bundleOption())
    .action(async (id, conversation, options) => {
      const { bundleNamed, inspectAny } = await import('../../../history/inspect/inspect.ts')
      return inspectAny(
        id,
        conversation,
        await settingsBeside(bundleNamed(id, options), options),
        options,
        process.stdout,
      )
    })

  const reporting = findsConversations(program.command('report'))
  withFilter(withSettings(reporting, [...whichBus, 'topicPrefix']))
    .argument('[bundle]', 'a bundle from weir export; default: the log that the settings name')
    .option('--conversation <id>', 'only this conversation; default: the newest ones')
    .option('--limit <number>', 'the number of conversations; at most 1000', '1000')
    .addOption(sortOption())
    .option(
      '--turn <number>',
      'only this turn of it: 1 is the first; weir inspect shows the numbers',
    )
    .option('-o, --output <file>', 'the page to write', 'report.html')
    .option('--force', 'overwrite an existing file')
    .addOption(unredactedOption())
    .option('--reasoning', "include the model's reasoning")
    .action(async (bundle, options) =>
      (await import('../../../report/report.ts')).report(
        { settings: await settingsBeside(bundle, options), bundle, options },
        process.stdout,
      ),
    )

  withFilter(withSettings(program.command('conversations'), [...whichBus, 'topicPrefix']))
    .option('--limit <number>', 'the number of conversations; default: 20, with --tree 1000')
    .option('--tree <id>', 'the tree of this conversation as a timeline with sums')
    .addOption(sortOption())
    .addOption(unredactedOption())
    .addOption(bundleOption())
    .option('--json', 'print one JSON object per line')
    .action(async (options) =>
      (await import('../../../history/conversations/conversations.ts')).listConversations(
        await settingsBeside(options.bundle, options),
        options,
        process.stdout,
      ),
    )

  withSettings(program.command('tail'), [...whichBus, 'topicPrefix'])
    .argument(
      '<topic>',
      'the topic, such as activity or guard-verdicts.NAME, with or without the topic prefix',
    )
    .option('--conversation <id>', 'only this conversation')
    .option('--type <type>', 'only this type, such as turn-finished; repeat for more', listed)
    .option('--partition <number>', 'only this partition')
    .option(
      '--from <where>',
      'the start: beginning, end, an offset, or a time; default: beginning, with --follow end',
    )
    .option('--since <time>', "only since this time: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'")
    .option('--until <time>', 'only before this time')
    .option('--limit <number>', 'stop after this number of records')
    .addOption(unredactedOption())
    .option('--follow', 'print new records as they arrive, until Ctrl-C')
    .addOption(bundleOption())
    .action(async (topic, options) =>
      (await import('../../../history/tail/tail.ts')).tail(
        topic,
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      ),
    )
}
