// The command line of Weir. commands/ holds names, flags and help texts. A command's code loads
// when it runs, to keep `weir --help` fast.

import { Command } from 'commander'
import { version } from '../../shared/lib/version.ts'
import { exitCodesHelp, runToItsEnd } from '../terminal/ending.ts'
import { addApprovals } from './commands/approvals.ts'
import { addBundles } from './commands/bundles.ts'
import { addDeadLetters } from './commands/dead-letters.ts'
import { addDemo } from './commands/demo.ts'
import { ownFlagsFirst, reportMissingLast } from './commands/flags.ts'
import { addGuard } from './commands/guard.ts'
import { addHistory } from './commands/history.ts'
import { addJudging } from './commands/judging.ts'
import { addKeys } from './commands/keys.ts'
import { addPolicy } from './commands/policy.ts'
import { addReset } from './commands/reset.ts'
import { addSetup } from './commands/setup.ts'
import { addTalk } from './commands/talk.ts'
import { addTopics } from './commands/topics.ts'
import { addUp } from './commands/up.ts'

const program = new Command('weir')
  .description('A low wall across a river: guards the tool calls of LLM agents.')
  .version(version(), '-V, --version', 'print the version of Weir')
  // Behind the name of a command, --version is its own flag (weir guard register).
  .enablePositionalOptions()
  .exitOverride()
  .configureHelp(ownFlagsFirst)
  .showSuggestionAfterError()
  .addHelpText('after', exitCodesHelp)

program.commandsGroup('Talk to an agent:')
addDemo(program)
addTalk(program) // ask, chat

program.commandsGroup('Read the log:')
addHistory(program) // inspect, report, conversations, tail

program.commandsGroup('Bundles and replay, offline:')
addBundles(program) // export, import, import-transcript
addJudging(program) // normalize, judge, replay

program.commandsGroup('Run stages:')
addUp(program)
addTopics(program)
addKeys(program)
addReset(program)
addDeadLetters(program)

program.commandsGroup('Control tool calls:')
addGuard(program)
addApprovals(program) // approvals, approve, reject
addPolicy(program)

program.commandsGroup('Set up and check:')
addSetup(program) // init, settings, doctor
program.helpCommand(true) // in this group

explainUsage(program, 'weir')
await runToItsEnd(() => program.parseAsync())

/** A usage error names the nearest option, and points to the help of its command. */
function explainUsage(command: Command, path: string): void {
  reportMissingLast(command)
  command.showHelpAfterError(`(${path} --help lists all options)`)
  for (const one of command.commands) explainUsage(one, `${path} ${one.name()}`)
}
