// weir dead-letters list, show, retry.

import type { Command } from 'commander'
import { answers } from '../../terminal/ending.ts'
import { bundleOption, settingsBeside, settingsOf, whichBus, withSettings } from './flags.ts'

export function addDeadLetters(program: Command): void {
  const deadLetters = program
    .command('dead-letters')
    .description('records that no stage could take: which, why, and once more')

  withLetterFilter(
    withSettings(deadLetters.command('list', { isDefault: true }), [...whichBus, 'topicPrefix']),
  )
    .description(
      'the dead letters: place, stage, reason, and where the record stood; also beside a running Weir',
    )
    .option(
      '--json',
      'one JSON object a line; ListedLetter in apps/history/dead-letters/list.ts says what is in it',
    )
    .addOption(bundleOption())
    .action(async (options) =>
      (await import('../../history/dead-letters/list.ts')).listDeadLetters(
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      ),
    )

  withSettings(deadLetters.command('show'), [...whichBus, 'topicPrefix'])
    .description(
      'one of them with its record, decoded as far as that is possible, and whether it can be written again',
    )
    .argument('<place>', 'PARTITION/OFFSET, as the list shows it')
    .option(
      '--json',
      'one JSON object; ShownLetter in apps/history/dead-letters/list.ts says what is in it',
    )
    .addOption(bundleOption())
    .action(async (place, options) =>
      (await import('../../history/dead-letters/list.ts')).showDeadLetter(
        place,
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      ),
    )

  const retry = answers(deadLetters.command('retry'), {
    yes: 'each is written, now or before',
    no: 'one is not, or you said no',
  })
  withLetterFilter(withSettings(retry, [...whichBus, 'topicPrefix', 'logLevel', 'synchronous']))
    .description(
      'writes their records again, to where they were read: messages, cancels and decisions, which come from outside',
    )
    .argument('[places...]', 'PARTITION/OFFSET, as the list shows it')
    .option('--all', 'all of them, or all that the other options name')
    .option('--yes', 'does not ask first')
    .action(async (places, options) => {
      process.exitCode = await (
        await import('../../history/dead-letters/retry.ts')
      ).retryDeadLetters(places, options, await settingsOf(options))
    })
}

function withLetterFilter(command: Command): Command {
  return command
    .option('--conversation <id>', 'only of this conversation')
    .option('--stage <name>', 'only those that this stage could not take')
    .option('--code <code>', 'only with this reason, such as codec.unknown-schema')
    .option('--since <time>', "only those written then or later: 2026-07-29T10:12:03Z, '10m ago'")
}
