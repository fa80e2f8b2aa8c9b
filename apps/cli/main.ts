// The command line of Weir. What a command is called and takes stands in commands/; what it does is
// loaded when it is used, so that `weir --help` is quick.

import { Command } from 'commander'
import { exitCodesHelp, runToItsEnd } from '../terminal/ending.ts'
import { addApprovals } from './commands/approvals.ts'
import { addBundles } from './commands/bundles.ts'
import { addDeadLetters } from './commands/dead-letters.ts'
import { addDemo } from './commands/demo.ts'
import { addGuard } from './commands/guard.ts'
import { addJudging } from './commands/judging.ts'
import { addLook } from './commands/look.ts'
import { addPolicy } from './commands/policy.ts'
import { addSetup } from './commands/setup.ts'
import { addTalk } from './commands/talk.ts'
import { addTopics } from './commands/topics.ts'
import { addUp } from './commands/up.ts'

const program = new Command('weir')
  .description('A low wall across a river: guards the tool calls of LLM agents.')
  .exitOverride()
  .showSuggestionAfterError()
  .addHelpText('after', exitCodesHelp)

program.commandsGroup('Talk to an agent:')
addDemo(program)
addTalk(program) // ask, chat

program.commandsGroup('See what happened:')
addLook(program) // inspect, report, conversations, tail

program.commandsGroup('Keep it, and judge it again, offline:')
addBundles(program) // export, import, import-transcript
addJudging(program) // normalize, judge, replay

program.commandsGroup('Run stages:')
addUp(program)
addTopics(program)
addDeadLetters(program)

program.commandsGroup('Say what may run:')
addGuard(program)
addApprovals(program) // approvals, approve, reject
addPolicy(program)

program.commandsGroup('Set up, and find out:')
addSetup(program) // init, settings, doctor
program.helpCommand(true) // in this group

pointToOwnHelp(program, 'weir')
await runToItsEnd(() => program.parseAsync())

/** A usage error points to the help of the command that was used. */
function pointToOwnHelp(command: Command, path: string): void {
  command.showHelpAfterError(`(${path} --help shows what there is)`)
  for (const one of command.commands) pointToOwnHelp(one, `${path} ${one.name()}`)
}
