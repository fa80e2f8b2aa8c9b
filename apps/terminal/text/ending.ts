// How the process of a command ends, and its exit code:
// TERMINAL-ENDING-1. 0: done, or yes. 1: no, or failed. 2: unusable flags, settings, files or
//     folders. A problem that may pass, such as another program's lock on a file, is a failure.
// TERMINAL-ENDING-2. If 1 is an answer of the command, a failure is 2 as well, so no caller can
//     confuse them (`answers`).
// Of a turn: 3, it ended with the agent's fallback. Of a decision: 4, it changes
// nothing. 130: stopped by Ctrl-C, without a result.
// If other code ends the process early, a message reports it.

import { writeSync } from 'node:fs'
import { type Command, CommanderError } from 'commander'
import { type ErrorCode, WeirError } from '../../../shared/lib/errors.ts'
import { withExitCodes } from '../exit-codes.ts'
import { printableLines } from './printable.ts'

/** Faults of the user's input: the user has to correct or replace it. */
const usageErrors = new Set<ErrorCode>([
  'usage',
  'settings.invalid',
  'agent.invalid',
  'agent.unknown',
  'message.invalid',
  'guard.invalid',
  'guard.taken',
  'guard.unknown',
  'sandbox.unavailable',
  'sandbox.refused',
  'policy.unknown',
  'budget.unknown',
  'stop.taken',
  'stop.unknown',
  'scenario.invalid',
  'approval.unknown',
  'approval.ambiguous',
  'transcript.invalid',
  'bundle.invalid',
  'bundle.damaged',
  'bundle.newer-version',
  'bundle.unknown-schema',
  'bundle.turn-cut',
  'bus.foreign-schema',
  'bus.not-a-database',
  'bus.newer-version',
  'bus.unwritable',
  'output.exists',
  'output.unwritable',
])

/** The command is done, and the exit code is final. */
let hasEnded = false

let failureCode = 1

/** For a command whose 1 is an answer (TERMINAL-ENDING-2). `yes` and `no`: the meanings of 0 and 1. */
export function answers(command: Command, { yes, no }: { yes: string; no: string }): Command {
  const codes = [
    { code: 0, meaning: yes },
    { code: 1, meaning: no },
    { code: 2, meaning: 'failed, also bad usage' },
  ]
  return withExitCodes(command, codes).hook('preAction', () => {
    failureCode = 2
  })
}

/**
 * For a command that searches for conversations. Finding none is a failure and not bad usage
 * (TERMINAL-ENDING-1). `no`: another reason for which nothing is done.
 */
export function findsConversations(command: Command, no?: string): Command {
  const reasons = ['no such conversation', ...(no === undefined ? [] : [no])].join(', ')
  return withExitCodes(command, [
    { code: 0, meaning: 'done' },
    { code: 1, meaning: `${reasons}, or failed` },
    { code: 2, meaning: 'unusable flags, settings, file or folder' },
  ])
}

/**
 * For a command that is done, but without a part of its content. `isFailure`: the reader can get that
 * part. Printed on standard error after the output, each text once.
 */
export function endWithout(text: string, { isFailure }: { isFailure: boolean }): void {
  missing.set(text, isFailure)
}

const missing = new Map<string, boolean>()

/** For a command that leaves handles open. */
export function endWith(code: number): never {
  hasEnded = true
  process.exit(code)
}

/** Runs the command of this process. */
export async function runToItsEnd(command: () => Promise<unknown>): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error // the reader has enough: `weir inspect ID | head`
  })
  // A guard's module runs in this process and may call process.exit. That must not look like
  // success.
  process.once('exit', (code) => {
    if (hasEnded || code > 128) return // over 128: a signal, such as Ctrl-C
    if (code === 0) process.exitCode = failureCode
    writeSync(
      2,
      'weir: the process ended before the command was done: does a guard call process.exit?\n',
    )
  })
  try {
    await command()
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    if (!(error instanceof CommanderError))
      process.stderr.write(`${printableLines(`weir: ${messageOf(error)}`).join('\n')}\n`)
  }
  for (const text of missing.keys())
    process.stderr.write(`${printableLines(`weir: ${text}`).join('\n')}\n`)
  if ([...missing.values()].includes(true)) process.exitCode ||= failureCode
  hasEnded = true
}

/** The message of our own errors. Any other error is a bug, so its stack is shown. */
function messageOf(error: unknown): string {
  return error instanceof WeirError ? error.message : String((error as Error)?.stack ?? error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return error instanceof WeirError && usageErrors.has(error.code) && !error.retryable
    ? 2
    : failureCode
}
