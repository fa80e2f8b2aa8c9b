// weir export, import, import-transcript: files that hold conversations.

import { type Command, Option } from 'commander'
import { findsConversations } from '../../terminal/ending.ts'
import { transcriptFormats } from '../../transcripts/format-names.ts'
import {
  bundleOption,
  listed,
  settingsBeside,
  settingsOf,
  whichBus,
  withSettings,
} from './flags.ts'

export function addBundles(program: Command): void {
  withSettings(findsConversations(program.command('export')), [...whichBus, 'topicPrefix'])
    .description(
      'conversations as one file, to keep, mail, look into and replay: whole turns, with all that led to them; also beside a running Weir',
    )
    .option(
      '--conversation <id>',
      'this conversation; may be given again for further ones; default: all',
      listed,
    )
    .option(
      '--since <time>',
      "turns that were active then or later: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'",
    )
    .option('--until <time>', 'turns that began before this')
    .option(
      '--where <key=value>',
      'turns that ended so: failureClass=no-progress, outcome, cap, agent; may be given again',
      listed,
    )
    .requiredOption('-o, --output <file>', 'the file, such as incident.weir')
    .option(
      '--redact <file>',
      'rules of what is replaced in contents; docs/guides/postmortems.md explains them',
    )
    .addOption(bundleOption())
    .option('--force', 'in the place of a file that is there')
    .action(async (options) => {
      process.exitCode = await (await import('../../bundles/export/export.ts')).exportBundle(
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      )
    })

  withSettings(program.command('import'), ['dataFolder', 'retention', 'toleratedDowntime'])
    .description(
      'makes a data folder of a bundle: the log as it was, offsets and times too, and so only where there is none yet',
    )
    .argument('<file>', 'the bundle, which weir export made')
    .action(async (file, options) => {
      process.exitCode = await (await import('../../bundles/import/import.ts')).importBundle(
        file,
        await settingsOf(options),
        process.stdout,
      )
    })

  program
    .command('import-transcript')
    .description(
      'conversations of another runtime as a bundle, to inspect, judge and replay: what Weir would have done with them',
    )
    .argument('<file>', 'JSON or JSON lines; docs/guides/import-transcripts.md says which shapes')
    .addOption(
      new Option('--format <format>', 'whose words it is written in')
        .choices(transcriptFormats)
        .makeOptionMandatory(),
    )
    .option(
      '--conversation-id <key>',
      'where each line says which conversation it is of, such as metadata.chat; none: nowhere; default: where logs usually say it',
    )
    .requiredOption('-o, --output <file>', 'the bundle, such as logs.weir')
    .option('--force', 'in the place of a file that is there')
    .action(async (file, options) => {
      process.exitCode = await (
        await import('../../transcripts/import-transcript.ts')
      ).importTranscript(file, options, process.stdout)
    })
}
