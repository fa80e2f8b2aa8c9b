// How the process of a command ends, and with which code: 0 done, 1 trouble, 2 bad usage; of a turn: 3, it ended with the agent's fallback; of a decision:
// 4, it changes nothing. What ends in no such way was ended by somebody else, and says so.

import { writeSync } from 'node:fs'
import { CommanderError } from 'commander'
import type { ErrorCode } from '../../shared/errors.ts'
import { WeirError } from '../../shared/errors.ts'
import { printableLines } from './terminal/printable.ts'

/** What a person wrote, and has to write otherwise. */
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
])

/** The command is done, and the exit code its own. */
let hasEnded = false

let troubleCode = 1

/** For a command whose 1 is an answer: trouble is this one. */
export function troubleIs(code: number): void {
  troubleCode = code
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
  // The module of a guard runs in this process and may call process.exit: that must not look like success.
  process.once('exit', (code) => {
    if (hasEnded || code > 128) return // the latter: as by a signal, such as Ctrl-C
    if (code === 0) process.exitCode = 1
    writeSync(2, 'weir: this process was ended before the command was done: does a guard call process.exit?\n')
  })
  try {
    await command()
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    if (!(error instanceof CommanderError)) process.stderr.write(`${printableLines(`weir: ${messageOf(error)}`).join('\n')}\n`)
  }
  hasEnded = true
}

/** Where it is none of ours, its stack: that is a bug, and somebody will want to know where. */
function messageOf(error: unknown): string {
  return error instanceof WeirError ? error.message : String((error as Error)?.stack ?? error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return error instanceof WeirError && usageErrors.has(error.code) ? 2 : troubleCode
}
