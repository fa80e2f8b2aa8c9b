// The ending of a call whose program the system did not start, with the remedy.

import { existsSync } from 'node:fs'
import type { ToolEnding } from '../tool.ts'
import { notStarted } from '../tool-endings.ts'

/** `program` and `cwd` are for the operator's log only. */
export function startFault(
  { program, cwd }: { program: string; cwd?: string | undefined },
  error: unknown,
): ToolEnding {
  const { code = 'unknown', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) {
    const fault = `cannot start ${program}: its working folder ${cwd} does not exist; create it, or correct cwd in the agent file`
    return notStarted({ code, event: 'its working folder does not exist', fault })
  }
  if (code === 'ENOENT') {
    const fault = `cannot start ${program}: there is no such program; install it where PATH finds it, or correct its command in the agent file`
    return notStarted({ code, event: 'its program was not found', fault })
  }
  if (code === 'EACCES') {
    const fault = `cannot start ${program}: it must not be executed; set its execute bit, or correct command or cwd in the agent file`
    return notStarted({ code, event: 'its program must not be executed', fault })
  }
  return notStarted({
    code,
    event: 'the system refused',
    fault: `cannot start ${program}: ${message}`,
  })
}
