// The exit codes of all commands (ending.ts), and those that a command adds. `weir --help`, the help of
// the command and docs/reference/exit-codes.md list them.

import type { Command } from 'commander'

type ExitCode = { readonly code: number; readonly meaning: string }

export const exitCodes: readonly ExitCode[] = [
  { code: 0, meaning: 'done, or the answer is yes' },
  {
    code: 1,
    meaning:
      'the answer is no (scan, replay, judge, normalize, policy diff, audit --verify, hooks, topics, doctor, reset,\n  dead-letters retry), no such conversation (inspect, report, export, fork, title, forget), or failed',
  },
  {
    code: 2,
    meaning:
      'unusable flags, settings, file or folder; for commands whose 1 is an answer, any failure',
  },
  { code: 3, meaning: "(ask) the agent's fallback; (audit --verify) no fault and no proof" },
  { code: 4, meaning: '(allow, deny) somebody decided earlier' },
  { code: 130, meaning: 'stopped by Ctrl-C' },
]

const ownCodes = new WeakMap<Command, readonly ExitCode[]>()

/** The help of the command ends with its own codes. */
export function withExitCodes(command: Command, codes: readonly ExitCode[]): Command {
  ownCodes.set(command, codes)
  const text = codes.map(({ code, meaning }) => `${code} ${meaning}`).join('; ')
  return command.addHelpText('after', `\nExit codes: ${text}.`)
}

export function exitCodesOf(command: Command): readonly ExitCode[] {
  return ownCodes.get(command) ?? []
}

export const exitCodesHelp = `
Exit codes:
${exitCodes.map(({ code, meaning }) => `${code} ${meaning}.`).join('\n')}`
