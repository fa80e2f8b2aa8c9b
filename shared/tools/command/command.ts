// The tool kind `command`: one program for each call, without a shell. It gets the arguments as
// JSON text on its standard input. Its standard output is the result, and its exit code the status.
// It sees PATH, the variables that the agent file allows, and its idempotency key.
// It sees nothing more of our environment, which holds the keys.
// A tool with a sandbox never runs outside of it. All that it started ends with it.

import { resolve as absolute } from 'node:path'
import type { CommandTool } from '../../agents/agents.ts'
import { proxyEnvironment } from '../sandbox/sandbox-environment.ts'
import { sandboxed, sandboxFault } from '../sandbox/sandboxed.ts'
import type { StartTool, ToolCall, ToolEnding } from '../tool.ts'
import { neverStarted } from '../tool-endings.ts'
import { visibleEnvironment } from '../tool-process.ts'
import { programFile } from '../tool-program.ts'
import { type CommandLaunch, runCommand, statusFd } from './command-run.ts'
import { startFault } from './start-fault.ts'

export const startCommand: StartTool<CommandTool> = (run, call) => {
  const launch = commandLaunch(run, call)
  return 'status' in launch ? neverStarted(launch) : runCommand(launch, call)
}

/** The launch of a call, or the ending of one that cannot start. */
export function commandLaunch(
  run: CommandTool,
  { idempotencyKey, traceparent }: Pick<ToolCall, 'idempotencyKey' | 'traceparent'>,
): CommandLaunch | ToolEnding {
  const { argv, cwd, environment, outputBytesMax } = run
  const [program] = argv
  try {
    const boxed = sandboxed(run, { argv, statusFd, forwards: 'launcher' })
    if (boxed !== undefined) refuseMissing(run)
    const env = {
      ...visibleEnvironment(environment),
      ...(boxed?.usesProxy === true && proxyEnvironment()),
      WEIR_IDEMPOTENCY_KEY: idempotencyKey,
      ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
    }
    const { bounds } = boxed ?? {}
    return { argv: boxed?.argv ?? argv, cwd, env, program, bounds, outputBytesMax }
  } catch (error) {
    return sandboxFault(error) ?? startFault({ program, cwd }, error)
  }
}

/** In a sandbox, the system would report a missing program too late. */
function refuseMissing({ argv: [program], cwd = '.' }: CommandTool): void {
  if (programFile(program, absolute(cwd), process.env.PATH ?? '') === undefined)
    throw Object.assign(new Error(`there is no program ${program}`), { code: 'ENOENT' })
}
