// The command line of Weir. command-list.ts has the commands, and commands/ their flags and help texts,
// which load for the command that is named. A command's code loads when it runs.

import { Command } from 'commander'
import { version } from '../../shared/lib/version.ts'
import { runToItsEnd } from '../terminal/text/ending.ts'
import { addCommands, programEnd, programText, versionOption } from './command-list.ts'
import { withExamples } from './examples.ts'
import { helpStyle, reportMissingLast } from './help-style.ts'
import { keepLibrariesPrintable } from './library-console.ts'

export async function runProgram(words: readonly string[]): Promise<void> {
  const program = await createProgram(words)
  keepLibrariesPrintable()
  await runToItsEnd(() => program.parseAsync(words, { from: 'user' }))
}

/** The program with the flags of the command that the words name, or with all flags. */
export async function createProgram(words: readonly string[] | 'all'): Promise<Command> {
  const program = new Command('weir')
    .description(programText)
    .version(version(), ...versionOption)
    // After the name of a command, --version is its own flag (weir guard register).
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp(helpStyle)
    .showSuggestionAfterError()
    .addHelpText('after', programEnd)

  await addCommands(program, words)
  program.helpCommand(true) // in the last group
  for (const command of program.commands) explainUsage(command, `weir ${command.name()}`)
  program.showHelpAfterError('(weir --help lists all options)')
  return program
}

/** A usage error names the nearest option, and points to the help of its command, which has examples. */
function explainUsage(command: Command, path: string): void {
  reportMissingLast(command)
  command.showHelpAfterError(`(${path} --help lists all options)`)
  withExamples(command, path)
  for (const one of command.commands) explainUsage(one, `${path} ${one.name()}`)
}
