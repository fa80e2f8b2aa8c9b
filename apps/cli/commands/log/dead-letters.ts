// weir dead-letters list, show, retry.

import type { Command } from 'commander'
import { answers } from '../../../terminal/text/ending.ts'
import {
  bundleOption,
  settingsBeside,
  settingsOf,
  unredactedOption,
  whichBus,
  withSettings,
} from '../flags.ts'

export function addDeadLetters(program: Command): void {
  const deadLetters = program.command('dead-letters')

  withLetterFilter(
    withSettings(deadLetters.command('list', { isDefault: true }), [...whichBus, 'topicPrefix']),
  )
    .description(
      "List the dead letters: place, stage, reason, and the record's source. Works while Weir runs.",
    )
    .option('--json', 'print one JSON object per line')
    .addOption(bundleOption())
    .action(async (options) =>
      (await import('../../../history/dead-letters/list.ts')).listDeadLetters(
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      ),
    )

  withSettings(deadLetters.command('show'), [...whichBus, 'topicPrefix'])
    .description(
      'Show a dead letter with its record, decoded as far as possible, and whether you can retry the record.',
    )
    .argument('<place>', 'PARTITION/OFFSET from the list')
    .option('--json', 'print one JSON object')
    .addOption(unredactedOption())
    .addOption(bundleOption())
    .action(async (place, options) =>
      (await import('../../../history/dead-letters/list.ts')).showDeadLetter(
        place,
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      ),
    )

  const retry = answers(deadLetters.command('retry'), {
    yes: 'all are written, now or earlier',
    no: 'a record is not, or you answered no',
  })
  withLetterFilter(withSettings(retry, [...whichBus, 'topicPrefix', 'logLevel', 'synchronous']))
    .description(
      'Write their records again to their topics. Only records from outside can be retried: messages, cancels and decisions.',
    )
    .argument('[places...]', 'PARTITION/OFFSET from the list')
    .option('--all', 'retry all of them, or all that match the other options')
    .option('--yes', 'do not ask for confirmation')
    .action(async (places, options) => {
      process.exitCode = await (
        await import('../../../history/dead-letters/retry.ts')
      ).retryDeadLetters(places, options, await settingsOf(options))
    })
}

function withLetterFilter(command: Command): Command {
  return command
    .option('--conversation <id>', 'only this conversation')
    .option('--stage <name>', 'only records that this stage could not process')
    .option('--code <code>', 'only this reason, such as codec.unknown-schema')
    .option('--since <time>', "only since this time: 2026-07-29T10:12:03Z, '10m ago'")
}
