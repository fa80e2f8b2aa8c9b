// weir normalize, judge, replay: run the stages offline on recorded data.

import { homedir } from 'node:os'
import { type Command, Option } from 'commander'
import { providerNames } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { answers } from '../../terminal/text/ending.ts'
import { listed, once, settingsBeside, whichBus, withConditions, withSettings } from './flags.ts'

export function addJudging(program: Command): void {
  answers(program.command('scan'), {
    yes: 'the sessions were read',
    no: 'there is a loop, with --fail-on loops',
  })
    .addOption(
      new Option(
        '--agent <agent>',
        'only the sessions of one, such as claude-code, cline, codex or hermes; default: all',
      ).argParser<string[]>(listed),
    )
    .option('--path <path>', 'a session, a bundle, or a folder with both, in another place', once)
    .option(
      '--since <time>',
      "only files that changed at this time or later: 2026-07-29, '7d ago'",
      once,
    )
    .addOption(new Option('--fail-on <what>', 'exit with 1 for a loop').choices(['loops']))
    .option(
      '--repo <folder>',
      'only sessions that ran in this folder or below, and its checkpoints of Entire',
      once,
    )
    .option('--json', 'print one JSON object')
    .option('--html <file>', 'also write a page with the same facts', once)
    .option('--github', 'also write annotations and the summary of a job of GitHub Actions')
    .option('--force', 'overwrite an existing file')
    .action(async (options) => {
      const { scan } = await import('../../replay/scan/scan.ts')
      const { guardText } = await import('../../http/hosts/guard-text.ts')
      const places = { home: homedir(), folder: process.cwd(), environment: process.env }
      process.exitCode = await scan(options, {
        ...places,
        guardText: (agent) => guardText(agent, places),
        out: process.stdout,
      })
    })

  answers(program.command('normalize'), {
    yes: 'each file was read, good or bad',
    no: 'a file is no recorded stream',
  })
    .argument('<files...>', 'server-sent events as bytes, or JSON lines with one payload each')
    .addOption(
      new Option('--provider <provider>', 'the provider whose format it is')
        .choices(providerNames)
        .makeOptionMandatory(),
    )
    .option(
      '--tools <file>',
      'the offered tools, a JSON array of {name, schema}; default: the called tools, with any object as arguments',
    )
    .option('--json', 'print one JSON object per file and line')
    .action(async (files, options) => {
      process.exitCode = await (await import('../../transcripts/normalize/normalize.ts')).normalize(
        files,
        options,
        process.stdout,
      )
    })

  answers(program.command('judge'), {
    yes: 'all match their labels, or none has a label',
    no: 'a scenario does not',
  })
    .argument('<file>', 'JSON lines in the format of docs/explain/postmortems.md, or a bundle')
    .option(
      '--set <key=value>',
      'a threshold as in agent files, or the mode of a rule: loop.identicalFailures=2, rule.cycle=shadow; repeat for more',
      listed,
    )
    .option(
      '--json',
      'print one JSON object per scenario: the first intervention, and whether it matches the label',
    )
    .action(async (file, options) => {
      process.exitCode = await (await import('../../replay/judge/judge.ts')).judgeFile(
        file,
        options,
        process.stdout,
      )
    })

  const replay = answers(program.command('replay'), {
    yes: 'no difference, or the answer to --set, --policy, --guard or --sweep is shown',
    no: 'there is a difference, and the first difference is shown',
  })
  withConditions(withSettings(replay, [...whichBus, 'topicPrefix']))
    .argument('[bundle]', 'a bundle from weir export; default: the log that the settings name')
    .option('--conversation <id>', 'only this conversation')
    .option(
      '--since <time>',
      "turns that began at this time or later: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'",
    )
    .option('--until <time>', 'records that were read before this time')
    .option(
      '--set <key=value>',
      'a threshold, a cap or the mode of a rule: loop.identicalFailures=2; repeat for more',
      listed,
    )
    .option(
      '--policy <file>',
      'loop, empty and caps of an agent file or of a JSON file with only these; or a file for weir policy set',
      once,
    )
    .option(
      '--guard <guard>',
      'an additional guard, with =OPTIONS as for weir ask; runs in a sandbox (bubblewrap)',
      once,
    )
    .option('--sweep <key=from..to>', 'try each value of a threshold: a table and a plot', once)
    .option('-o, --output <file>', 'write a page with the plot of --sweep')
    .option('--force', 'overwrite an existing file')
    .option('--full', 'do not shorten values and lists')
    .option('--json', 'print one JSON object; see docs/explain/postmortems.md')
    .action(async (bundle, options) => {
      process.exitCode = await (await import('../../replay/replay.ts')).replay(
        bundle,
        options,
        await settingsBeside(bundle, options),
        process.stdout,
      )
    })
}
