// The command line of Weir. command-list.ts has the commands, and commands/ their flags and help texts,
// which load for the command that is named. A command's code loads when it runs.

import { Command } from 'commander'
import { version } from '../../shared/lib/version.ts'
import { exitCodesHelp, runToItsEnd } from '../terminal/ending.ts'
import { addCommands } from './command-list.ts'
import { helpStyle, reportMissingLast } from './help-style.ts'
import { keepLibrariesPrintable } from './library-console.ts'

const program = new Command('weir')
  .description('A low wall across a river: guards the tool calls of LLM agents.')
  .version(version(), '-V, --version', 'print the version of Weir')
  // Behind the name of a command, --version is its own flag (weir guard register).
  .enablePositionalOptions()
  .exitOverride()
  .configureHelp(helpStyle)
  .showSuggestionAfterError()
  .addHelpText('after', exitCodesHelp)

await addCommands(program, process.argv.slice(2))
program.helpCommand(true) // in the last group

explainUsage(program, 'weir')
keepLibrariesPrintable()
await runToItsEnd(() => program.parseAsync())

/** A usage error names the nearest option, and points to the help of its command. */
function explainUsage(command: Command, path: string): void {
  reportMissingLast(command)
  command.showHelpAfterError(`(${path} --help lists all options)`)
  for (const one of command.commands) explainUsage(one, `${path} ${one.name()}`)
}
