// The command line of Weir. commands/ holds names, flags and help texts. A command's code loads
// when it runs, to keep `weir --help` fast.

import { Command } from 'commander'
import { version } from '../../shared/lib/version.ts'
import { exitCodesHelp, runToItsEnd } from '../terminal/ending.ts'
import { addApprovals } from './commands/approvals.ts'
import { addBudgets } from './commands/budgets.ts'
import { addBundles } from './commands/bundles.ts'
import { addConsole } from './commands/console.ts'
import { addDeadLetters } from './commands/dead-letters.ts'
import { addDemo } from './commands/demo.ts'
import { ownFlagsFirst, reportMissingLast } from './commands/flags.ts'
import { addGuard } from './commands/guard.ts'
import { addHistory } from './commands/history.ts'
import { addHooks } from './commands/hooks.ts'
import { addJudging } from './commands/judging.ts'
import { addKeys } from './commands/keys.ts'
import { addMcp } from './commands/mcp.ts'
import { addPolicy } from './commands/policy.ts'
import { addProxy } from './commands/proxy.ts'
import { addReset } from './commands/reset.ts'
import { addApiKeys, addServe } from './commands/serve.ts'
import { addSetup } from './commands/setup.ts'
import { addStops } from './commands/stops.ts'
import { addTalk } from './commands/talk.ts'
import { addTopics } from './commands/topics.ts'
import { addTraces } from './commands/traces.ts'
import { addUp } from './commands/up.ts'
import { keepLibrariesPrintable } from './library-console.ts'

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

program.commandsGroup('Guard an agent that runs elsewhere:')
addProxy(program)
addMcp(program)

program.commandsGroup('Read the log:')
addHistory(program) // inspect, report, conversations, tail
addTraces(program)

program.commandsGroup('Bundles and replay, offline:')
addBundles(program) // export, import, import-transcript
addJudging(program) // normalize, judge, replay

program.commandsGroup('Run stages:')
addUp(program)
addServe(program)
addConsole(program)
addApiKeys(program)
addTopics(program)
addKeys(program)
addReset(program)
addDeadLetters(program)

program.commandsGroup('Control tool calls:')
addGuard(program)
addApprovals(program) // approvals, approve, reject
addPolicy(program)
addStops(program)
addBudgets(program) // stop, stops, release

program.commandsGroup('Guard other agents:')
addHooks(program)

program.commandsGroup('Set up and check:')
addSetup(program) // init, settings, doctor
program.helpCommand(true) // in this group

explainUsage(program, 'weir')
keepLibrariesPrintable()
await runToItsEnd(() => program.parseAsync())

/** A usage error names the nearest option, and points to the help of its command. */
function explainUsage(command: Command, path: string): void {
  reportMissingLast(command)
  command.showHelpAfterError(`(${path} --help lists all options)`)
  for (const one of command.commands) explainUsage(one, `${path} ${one.name()}`)
}
