// All kinds of tools that an executor can start: the one place that sees them all. A further kind
// is its file and a case here.

import { startCommand } from './command.ts'
import { httpTools } from './http.ts'
import { moduleTools } from './module.ts'
import type { StartTool } from './tool.ts'

/**
 * With connections and processes of its own, which it keeps for the next calls and which do not
 * keep this process alive.
 */
export function toolStarter(): StartTool {
  const startHttp = httpTools()
  const { start: startModule } = moduleTools()
  return (run, call) => {
    switch (run.kind) {
      case 'command':
        return startCommand(run, call)
      case 'http':
        return startHttp(run, call)
      case 'module':
        return startModule(run, call)
      default:
        return noSuchKind(run)
    }
  }
}

/** Says the kind only: the rest may be a credential. */
function noSuchKind(run: never): never {
  throw new Error(`no such kind of tool: ${(run as { kind: string }).kind}`)
}
