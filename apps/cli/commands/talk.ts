// weir ask, chat: messages to an agent.

import { type Command, Option } from 'commander'
import { guardModes, keeping, listed, settingsOf, whichBus, withSettings } from './flags.ts'

const guardText =
  'a guard that runs here, on the embedded bus: shell, spend or a file, with =OPTIONS behind it a file of JSON for it; may be given again. It stays registered, with its mode'

export function addTalk(program: Command): void {
  withSettings(program.command('ask'), [
    ...whichBus,
    'topicPrefix',
    'logLevel',
    'partitions',
    ...keeping,
    'synchronous',
  ])
    .description(
      'one message to an agent: what becomes of it on stderr, the reply on stdout; exit 0: a reply, 3: the fallback',
    )
    .argument('[text]', 'the message; - or nothing: standard input')
    .requiredOption('--agent <file>', 'the agent file')
    .option('--conversation <id>', 'goes on with this conversation; default: a new one')
    .option('--guard <guard>', guardText, listed)
    .addOption(
      new Option(
        '--guard-mode <mode>',
        'of these guards; default: as registered, and shadow for a new one',
      ).choices(guardModes),
    )
    .option(
      '--json',
      'all events on stdout, one JSON object a line, the last one the turn-finished',
    )
    .action(async (text, options) => {
      process.exitCode = await (await import('../ask.ts')).ask(
        text,
        options,
        await settingsOf(options),
      )
    })

  withSettings(program.command('chat'), [
    ...whichBus,
    'topicPrefix',
    'logLevel',
    'partitions',
    ...keeping,
    'synchronous',
  ])
    .description('a conversation with an agent in the terminal; piped in, each line is a message')
    .requiredOption('--agent <file>', 'the agent file')
    .option('--conversation <id>', 'goes on with this conversation; default: a new one')
    .option('--guard <guard>', guardText, listed)
    .addOption(
      new Option(
        '--guard-mode <mode>',
        'of these guards; default: as registered, and shadow for a new one',
      ).choices(guardModes),
    )
    .action(async (options) =>
      (await import('../chat.ts')).chat(options, await settingsOf(options)),
    )
}
