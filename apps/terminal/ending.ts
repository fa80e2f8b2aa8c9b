// How the process of a command ends, and with which code:
// TERMINAL-ENDING-1. 0 it is done, or the answer is yes; 1 the answer is no, or trouble; 2 what was
//     given cannot be used: flags, settings, a file or a folder that was named. What may pass by
//     itself, such as another program's lock on the file, is trouble.
// TERMINAL-ENDING-2. Of a command whose 1 is an answer, trouble is 2 as well, so that nobody takes
//     one for the other (`answers`).
// TERMINAL-ENDING-3. Of a turn: 3, it ended with the agent's fallback; of a decision: 4, it changes
//     nothing; 130: stopped by Ctrl-C, and nothing was made.
// What ends in no such way was ended by somebody else, and says so.

import { writeSync } from 'node:fs'
import { type Command, CommanderError } from 'commander'
import { type ErrorCode, WeirError } from '../../shared/lib/errors.ts'
import { printableLines } from './printable.ts'

/** What a person wrote or named, and has to write otherwise or to replace. */
const usageErrors = new Set<ErrorCode>([
  'usage',
  'settings.invalid',
  'agent.invalid',
  'agent.unknown',
  'message.invalid',
  'guard.invalid',
  'guard.taken',
  'guard.unknown',
  'policy.unknown',
  'scenario.invalid',
  'approval.unknown',
  'approval.ambiguous',
  'transcript.invalid',
  'bundle.invalid',
  'bundle.damaged',
  'bundle.newer-version',
  'bundle.unknown-schema',
  'bundle.turn-cut',
  'bus.not-a-database',
  'bus.newer-version',
  'bus.unwritable',
  'output.exists',
  'output.unwritable',
])

/** TERMINAL-ENDING-1 to TERMINAL-ENDING-3, for `weir --help`. */
export const exitCodesHelp = `
Exit codes: 0 done, or the answer is yes. 1 the answer is no (replay, judge, normalize, policy diff, topics, doctor, dead-letters retry), there
is no such conversation (inspect, report, export), or trouble.
2 flags, settings, a file or a folder that cannot be used; where 1 is an answer, any trouble. 3 (ask) the agent's fallback. 4 (approve, reject) decided before.
130 stopped by Ctrl-C.`

/** The command is done, and the exit code its own. */
let hasEnded = false

let troubleCode = 1

/**
 * For a command whose 1 is an answer (TERMINAL-ENDING-2), which its help says: `yes` and `no`
 * complete `exit 0:` and `1:`.
 */
export function answers(command: Command, { yes, no }: { yes: string; no: string }): Command {
  return command
    .addHelpText('after', `\nExit codes: 0 ${yes}; 1 ${no}; 2 trouble, also bad usage.`)
    .hook('preAction', () => {
      troubleCode = 2
    })
}

/**
 * For a command that is asked for conversations: that there is none is trouble, and no mistake in
 * what was written (TERMINAL-ENDING-1).
 */
export function findsConversations(command: Command): Command {
  return command.addHelpText(
    'after',
    '\nExit codes: 0 done; 1 there is no such conversation, or trouble; 2 flags, settings, a file or a folder that cannot be used.',
  )
}

/** For a command that leaves something open. */
export function endWith(code: number): never {
  hasEnded = true
  process.exit(code)
}

/** Runs the command that the process is for. */
export async function runToItsEnd(command: () => Promise<unknown>): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error // whoever read it has enough: `weir inspect ID | head`
  })
  // The module of a guard runs in this process and may call process.exit: that must not look like
  // success.
  process.once('exit', (code) => {
    if (hasEnded || code > 128) return // the latter: as by a signal, such as Ctrl-C
    if (code === 0) process.exitCode = troubleCode
    writeSync(
      2,
      'weir: this process was ended before the command was done: does a guard call process.exit?\n',
    )
  })
  try {
    await command()
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    if (!(error instanceof CommanderError))
      process.stderr.write(`${printableLines(`weir: ${messageOf(error)}`).join('\n')}\n`)
  }
  hasEnded = true
}

/** Where it is none of ours, its stack: that is a bug, and somebody will want to know where. */
function messageOf(error: unknown): string {
  return error instanceof WeirError ? error.message : String((error as Error)?.stack ?? error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return error instanceof WeirError && usageErrors.has(error.code) && !error.retryable
    ? 2
    : troubleCode
}
