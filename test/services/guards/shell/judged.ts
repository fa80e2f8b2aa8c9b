// The verdict of the guard `shell` on a command of an agent that works in /work/app.

import shellGuard from '../../../../services/guards/shell/guard.ts'
import type { ShellGuardOptions } from '../../../../services/guards/shell/options.ts'
import type { JsonObject, Verdict } from '../../../../shared/contract/guard/guard.ts'
import { declarationWith } from '../../../support/messages.ts'

export const usual: ShellGuardOptions = {
  tools: ['bash'],
  allowedFolders: ['/work', '/tmp'],
  workingFolder: '/work/app',
  home: '/home/u',
}

export function judged(args: JsonObject, options: Partial<ShellGuardOptions> = {}): Verdict {
  const declaration = declarationWith({ name: 'bash', timeoutMs: 1 })
  const round = {
    conversation: 'c',
    turn: 1,
    round: 1,
    agent: 'a',
    time: 0,
    ended: [],
    calls: [
      {
        ordinal: 3,
        name: 'bash',
        arguments: args,
        rawArguments: JSON.stringify(args),
        source: 'deltas' as const,
        enforced: true,
        declaration,
      },
    ],
  }
  const { verdicts } = shellGuard({ ...usual, ...options }).judge(undefined, round)
  return verdicts[0]!
}

/** `allow`, or the code of the denial. */
export function codeOf(verdict: Verdict): string {
  return verdict.verdict === 'allow' ? 'allow' : verdict.code
}
