// weir ask, chat, fork, title: send messages to an agent, continue a conversation twice, and name it.

import { type Command, Option } from 'commander'
import { stagesChoices } from '../../../client/place/stages-choice.ts'
import { withExitCodes } from '../../terminal/exit-codes.ts'
import { findsConversations } from '../../terminal/text/ending.ts'
import {
  guardModeOption,
  listed,
  ownStages,
  rawFlag,
  runImportedFlag,
  settingsOf,
  whichBus,
  withSettings,
} from './flags.ts'
import { by, changing, runs } from './operator/setting-commands.ts'

const guardText =
  'run this guard in this process, on the embedded log: flow, once, opa, shell, spend or a file, optionally with =OPTIONS, a JSON file; repeat for more. The guard stays registered, with the mode'

const stagesFlag = () =>
  new Option(
    '--stages <where>',
    'the process that runs the stages: this one, another one such as weir up, or auto; elsewhere needs no key',
  )
    .choices(stagesChoices)
    .default('auto')

export function addTalk(program: Command): void {
  const asking = withExitCodes(program.command('ask'), [
    { code: 0, meaning: 'a reply' },
    { code: 3, meaning: 'the fallback' },
  ])
  withSettings(asking, ownStages)
    .argument('[text]', 'the message; - or no argument: standard input')
    .requiredOption('--agent <file>', 'the agent file')
    .option('--conversation <id>', 'continue this conversation; default: start a new one')
    .option(
      '--tenant <name>',
      'the tenant of the conversation: its id begins with it and a colon; default: as the id says',
    )
    .option(
      '--image <file>',
      'an image for the model: PNG, JPEG, GIF or WebP; repeat for more',
      listed,
    )
    .option('--file <file>', 'a file for the model: PDF or text; repeat for more', listed)
    .option('--guard <guard>', guardText, listed)
    .addOption(guardModeOption())
    .option(
      '--json',
      'print all events on stdout, one JSON object per line, ending with the turn-finished',
    )
    .addOption(stagesFlag())
    .option(...rawFlag)
    .option(...runImportedFlag)
    .action(async (text, options) => {
      process.exitCode = await (await import('../ask.ts')).ask(
        text,
        options,
        await settingsOf(options),
      )
    })

  withSettings(program.command('chat'), ownStages)
    .requiredOption('--agent <file>', 'the agent file')
    .option('--conversation <id>', 'continue this conversation; default: start a new one')
    .option('--guard <guard>', guardText, listed)
    .addOption(guardModeOption())
    .addOption(stagesFlag())
    .option(...rawFlag)
    .option(...runImportedFlag)
    .action(async (options) =>
      (await import('../chat.ts')).chat(options, await settingsOf(options)),
    )

  withSettings(findsConversations(program.command('fork')), [...whichBus, 'topicPrefix'])
    .argument('<conversation>', 'the conversation to continue; it stays as it is')
    .option(
      '--turn <number>',
      'the last turn that both share, by the number that weir inspect shows; default: the newest one',
    )
    .option('--json', 'print one JSON object: conversation')
    .action(async (conversation, options) =>
      (await import('../../service/conversations/fork.ts')).fork(
        conversation,
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )

  const title = changing(program.command('title'))
    .argument('<conversation>', 'the conversation; weir conversations lists them')
    .argument('<title>', 'the title for lists, at most 256 bytes; an empty one removes it')
    .option(...by)
    .option('--json', 'print one JSON object: conversation, title')
  runs(title, async () => (await import('../../service/conversations/title.ts')).titleChange)
}
