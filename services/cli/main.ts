// The command line of Weir. Each command's code is loaded when it is used, so that `weir --help` is quick.
// Exit codes: 0 done, 1 trouble, 2 bad usage.

import { Command, CommanderError, Option } from 'commander'
import { WeirError } from '../../shared/errors.ts'
import type { SettingKey } from '../../shared/settings.ts'
import { flagOf, readSettings, settingTable } from '../../shared/settings.ts'
import { badModels } from './demo/reflex-model.ts'

const program = new Command('weir')
  .description('A low wall across a river: guards the tool calls of LLM agents.')
  .exitOverride()
  .showHelpAfterError('(weir --help shows what there is)')
  .showSuggestionAfterError()

withSettings(program.command('demo'), ['logLevel', 'partitions', 'synchronous'])
  .description('plays incident I1 twice, through a plain loop and through Weir; needs no key and no broker')
  .addOption(new Option('--bad <model>', 'which bad model plays').choices([...badModels]).default('reflex'))
  .action(async (options) => {
    const settings = readSettings({ logLevel: 'warn', ...options }, process.env)
    const { runDemo } = await import('./demo/demo.ts')
    await runDemo(options.bad, settings, process.stdout)
  })

/** Adds the flags of these settings to a command. */
function withSettings(command: Command, keys: SettingKey[]): Command {
  for (const key of keys) {
    const { variable, description, unit, schema } = settingTable[key]
    const range = schema.enum ? `: ${schema.enum.join(', ')}` : ''
    command.option(`--${flagOf(key)} <${unit ?? 'value'}>`, `${description}${range} (${variable}; default ${schema.default})`)
  }
  return command
}

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
  if (!(error instanceof CommanderError))
    process.stderr.write(`weir: ${error instanceof WeirError ? error.message : ((error as Error)?.stack ?? error)}\n`)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return error instanceof WeirError && (error.code === 'usage' || error.code === 'settings.invalid') ? 2 : 1
}
