// The exit codes of all commands, as `weir --help` lists them (ending.ts).

export const exitCodesHelp = `
Exit codes: 0 done, or the answer is yes.
1 the answer is no (replay, judge, normalize, policy diff, topics, doctor, dead-letters retry),
  no such conversation (inspect, report, export, fork, title, forget), or failed.
2 unusable flags, settings, file or folder; for commands whose 1 is an answer, any failure.
3 (ask) the agent's fallback. 4 (allow, deny) somebody decided earlier.
130 stopped by Ctrl-C.`
