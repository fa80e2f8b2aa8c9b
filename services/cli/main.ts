// The command line of Weir. Each command's code is loaded when it is used, so that `weir --help` is quick.
// Exit codes: 0 done, 1 trouble, 2 bad usage; of a turn: 3, it ended with the agent's fallback.

import { Command, CommanderError, Option } from 'commander'
import type { ErrorCode } from '../../shared/errors.ts'
import { WeirError } from '../../shared/errors.ts'
import type { SettingKey, Settings } from '../../shared/settings.ts'
import { flagOf, settingKeys, settingTable } from '../../shared/settings.ts'
import type { SettingFlags } from './command-settings.ts'
import { badModels } from './demo/reflex-model.ts'
import { printableLines } from './terminal/printable.ts'

/** What a person wrote, and has to write otherwise. */
const usageErrors = new Set<ErrorCode>(['usage', 'settings.invalid', 'agent.invalid', 'agent.unknown', 'message.invalid'])

const program = new Command('weir')
  .description('A low wall across a river: guards the tool calls of LLM agents.')
  .exitOverride()
  .showHelpAfterError('(weir --help shows what there is)')
  .showSuggestionAfterError()

withSettings(program.command('demo'), ['logLevel', 'partitions', 'synchronous'])
  .description('plays incident I1 twice, through a plain loop and through Weir; needs no key and no broker')
  .addOption(new Option('--bad <model>', 'which bad model plays').choices([...badModels]).default('reflex'))
  .action(async (options) => {
    const settings = await settingsOf(options)
    const { runDemo } = await import('./demo/demo.ts')
    await runDemo(options.bad, settings, process.stdout)
  })

withSettings(program.command('ask'), ['dataFolder', 'logLevel', 'partitions', 'synchronous'])
  .description('one message to an agent: what becomes of it on stderr, the reply on stdout; exit 0: a reply, 3: the fallback')
  .argument('[text]', 'the message; - or nothing: standard input')
  .requiredOption('--agent <file>', 'the agent file')
  .option('--conversation <id>', 'goes on with this conversation; default: a new one')
  .option('--json', 'all events on stdout, one JSON object a line, the last one the turn-finished')
  .action(async (text, options) => {
    process.exitCode = await (await import('./ask.ts')).ask(text, options, await settingsOf(options))
  })

withSettings(program.command('chat'), ['dataFolder', 'logLevel', 'partitions', 'synchronous'])
  .description('a conversation with an agent in the terminal; piped in, each line is a message')
  .requiredOption('--agent <file>', 'the agent file')
  .option('--conversation <id>', 'goes on with this conversation; default: a new one')
  .action(async (options) => (await import('./chat.ts')).chat(options, await settingsOf(options)))

withSettings(program.command('inspect'), ['dataFolder', 'topicPrefix'])
  .description('what happened in a conversation: rounds, calls, verdicts, results, times; also beside a running Weir')
  .argument('<id>', 'the conversation')
  .option('--full', 'texts without a limit')
  .option('--reasoning', 'what the model thought, too')
  .option('--json', 'one JSON object; services/cli/inspect/timeline.ts says what is in it')
  .action(async (id, options) => (await import('./inspect/inspect.ts')).inspect(id, await settingsOf(options), options, process.stdout))

withSettings(program.command('conversations'), ['dataFolder', 'topicPrefix'])
  .description('the conversations that were active last: turns, tokens, how each ended')
  .option('--limit <number>', 'how many', '20')
  .option('--json', 'one JSON object a line; services/cli/conversations/summary.ts says what is in it')
  .action(async (options) =>
    (await import('./conversations/conversations.ts')).listConversations(await settingsOf(options), options, process.stdout),
  )

program
  .command('init')
  .description('writes an agent file and tools to start from; never over a file that is there')
  .argument('[folder]', 'where to', '.')
  .action(async (folder) => (await import('./init/init.ts')).init(folder, process.env, process.stdout))

withSettings(program.command('settings'), settingKeys)
  .description('every setting: its value, where that comes from, what it means')
  .option('--json', 'one JSON object, by setting')
  .action(async (options) => (await import('./settings.ts')).showSettings(options, options, process.stdout))

withSettings(program.command('doctor'), settingKeys)
  .description('what is missing or odd on this machine, with the remedy; exit 0: nothing is wrong, 1: something is')
  .option('--agent <file>', 'an agent file, or a folder of them; default: agent.yaml, if it is here')
  .option('--online', 'also asks whether models and servers of tools can be reached')
  .action(async (options) => {
    process.exitCode = await (await import('./doctor/doctor.ts')).doctor(options, process.stdout)
  })

/** Adds the flags of these settings to a command. */
function withSettings(command: Command, keys: SettingKey[]): Command {
  command.option('--config <file>', 'the settings file (WEIR_CONFIG; default weir.yaml or weir.json here, if there is one)')
  for (const key of keys) {
    const { variable, description, unit, schema } = settingTable[key]
    const range = schema.enum ? `: ${schema.enum.join(', ')}` : ''
    command.option(`--${flagOf(key)} <${unit ?? 'value'}>`, `${description}${range} (${variable}; default ${schema.default})`)
  }
  return command
}

async function settingsOf(flags: SettingFlags): Promise<Settings> {
  const { commandSettings } = await import('./command-settings.ts')
  return commandSettings(flags)
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error // whoever read it has enough: `weir inspect ID | head`
})

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
  if (!(error instanceof CommanderError)) process.stderr.write(`${printableLines(`weir: ${messageOf(error)}`).join('\n')}\n`)
}

/** Where it is none of ours, its stack: that is a bug, and somebody will want to know where. */
function messageOf(error: unknown): string {
  return error instanceof WeirError ? error.message : String((error as Error)?.stack ?? error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return error instanceof WeirError && usageErrors.has(error.code) ? 2 : 1
}
