// The exit codes of all commands (ending.ts), as `weir --help` and docs/reference/exit-codes.md list
// them.

export const exitCodes = [
  { code: 0, meaning: 'done, or the answer is yes' },
  {
    code: 1,
    meaning:
      'the answer is no (replay, judge, normalize, policy diff, topics, doctor, dead-letters retry),\n  no such conversation (inspect, report, export, fork, title, forget), or failed',
  },
  {
    code: 2,
    meaning:
      'unusable flags, settings, file or folder; for commands whose 1 is an answer, any failure',
  },
  { code: 3, meaning: "(ask) the agent's fallback; (audit --verify) no fault and no proof" },
  { code: 4, meaning: '(allow, deny) somebody decided earlier' },
  { code: 130, meaning: 'stopped by Ctrl-C' },
] as const

export const exitCodesHelp = `
Exit codes:
${exitCodes.map(({ code, meaning }) => `${code} ${meaning}.`).join('\n')}`
