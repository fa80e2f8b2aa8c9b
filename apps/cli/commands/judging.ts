// weir normalize, judge, replay: the stages over what was recorded, offline.

import { type Command, Option } from 'commander'
import { providerNames } from '../../../services/llm-gateway/providers/providers.ts'
import { answers } from '../../terminal/ending.ts'
import { listed, once, settingsBeside, whichBus, withSettings } from './flags.ts'

export function addJudging(program: Command): void {
  answers(program.command('normalize'), {
    yes: 'each was read, whatever it holds',
    no: 'one is no recorded stream',
  })
    .description('what Weir makes of recorded streams, offline: their parts and calls')
    .argument('<files...>', 'server-sent events as bytes, or JSON lines with one payload each')
    .addOption(
      new Option('--provider <provider>', 'whose format it is')
        .choices(providerNames)
        .makeOptionMandatory(),
    )
    .option(
      '--tools <file>',
      'the tools that were offered, a JSON array of {name, schema}; default: those that are called, with any object',
    )
    .option('--json', 'one JSON object a file and a line')
    .action(async (files, options) => {
      process.exitCode = await (await import('../../transcripts/normalize/normalize.ts')).normalize(
        files,
        options,
        process.stdout,
      )
    })

  answers(program.command('judge'), {
    yes: 'all are as labelled, or none has a label',
    no: 'one is not',
  })
    .description(
      'scenarios, or conversations as weir inspect --json prints them or of a bundle, through validator and loop-detector, offline',
    )
    .argument('<file>', 'JSON lines; docs/guides/postmortems.md explains the format; or a bundle')
    .option(
      '--set <key=value>',
      'a threshold, as agent files name it, or the mode of a rule: loop.identicalFailures=2, rule.cycle=shadow; may be given again',
      listed,
    )
    .option(
      '--json',
      'one JSON object a scenario: the first intervention, and whether it is as expected',
    )
    .action(async (file, options) => {
      process.exitCode = await (await import('../../replay/judge/judge.ts')).judgeFile(
        file,
        options,
        process.stdout,
      )
    })

  const replay = answers(program.command('replay'), {
    yes: 'the same, or what --set, --policy, --guard or --sweep asks is told',
    no: 'something differs, and the first difference is shown',
  })
  withSettings(replay, [...whichBus, 'topicPrefix'])
    .description(
      "every stage's decisions again, from the log or a bundle alone, compared with what was written; with --set, --policy, --guard or --sweep: what would have been decided otherwise",
    )
    .argument('[bundle]', 'a file of weir export; default: the log that the settings name')
    .option('--conversation <id>', 'only of this conversation')
    .option(
      '--since <time>',
      "turns that began not before this: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'",
    )
    .option('--until <time>', 'what was read before this')
    .option(
      '--set <key=value>',
      'a threshold, a cap or the mode of a rule: loop.identicalFailures=2; may be given again',
      listed,
    )
    .option(
      '--policy <file>',
      'an agent file, of which loop, empty and caps count; those by themselves; or a file of weir policy set',
      once,
    )
    .option(
      '--guard <guard>',
      'a guard that judges too, with =OPTIONS as for weir ask; it runs in a process of its own',
      once,
    )
    .option('--sweep <key=from..to>', 'each value of a threshold: a table and a plot', once)
    .option('-o, --output <file>', 'the plot of --sweep as SVG')
    .option('--force', 'writes over a file that is there')
    .option('--full', 'values and lists without a limit')
    .option('--json', 'one JSON object; docs/guides/postmortems.md says what is in it')
    .action(async (bundle, options) => {
      process.exitCode = await (await import('../../replay/replay.ts')).replay(
        bundle,
        options,
        await settingsBeside(bundle, options),
        process.stdout,
      )
    })
}
