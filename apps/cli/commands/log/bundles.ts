// weir export, import, import-transcript: commands on files with conversations.

import { type Command, Option } from 'commander'
import { findsConversations } from '../../../terminal/text/ending.ts'
import { transcriptFormats } from '../../../transcripts/formats.ts'
import {
  bundleOption,
  keeping,
  listed,
  settingsBeside,
  settingsOf,
  unredactedOption,
  whichBus,
  withFilter,
  withSettings,
} from '../flags.ts'

export function addBundles(program: Command): void {
  const exporting = findsConversations(program.command('export'))
  withFilter(withSettings(exporting, [...whichBus, 'topicPrefix']))
    .option(
      '--conversation <id>',
      'export this conversation; repeat for more; default: all',
      listed,
    )
    .requiredOption('-o, --output <file>', 'the file to write, such as incident.weir')
    .option('--redact <file>', 'rules for replacing contents; see docs/explain/postmortems.md')
    .addOption(unredactedOption())
    .addOption(bundleOption())
    .option('--force', 'overwrite an existing file')
    .action(async (options) => {
      process.exitCode = await (await import('../../../bundles/export/export.ts')).exportBundle(
        options,
        await settingsBeside(options.bundle, options),
        process.stdout,
      )
    })

  withSettings(program.command('import'), ['dataFolder', ...keeping])
    .argument('<file>', 'a bundle from weir export')
    .action(async (file, options) => {
      process.exitCode = await (await import('../../../bundles/import/import.ts')).importBundle(
        file,
        await settingsOf(options),
        process.stdout,
      )
    })

  program
    .command('import-transcript')
    .argument('<file>', 'JSON or JSON lines; see docs/explain/import-transcripts.md for the shapes')
    .addOption(
      new Option('--format <format>', 'the format of the file')
        .choices(transcriptFormats)
        .makeOptionMandatory(),
    )
    .option(
      '--conversation-id <key>',
      'the field with the conversation of each line, such as metadata.chat; none: there is no such field; default: the usual fields',
    )
    .requiredOption('-o, --output <file>', 'the bundle to write, such as logs.weir')
    .option('--force', 'overwrite an existing file')
    .action(async (file, options) => {
      process.exitCode = await (
        await import('../../../transcripts/import-transcript.ts')
      ).importTranscript(file, options, process.stdout)
    })
}
