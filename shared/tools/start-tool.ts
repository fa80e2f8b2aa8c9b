// All kinds of tools of an executor: the one place that knows them all. A new kind is a file and a
// case here.

import { startCommand } from './command/command.ts'
import { httpTools } from './http/http.ts'
import { startMcp } from './mcp/mcp.ts'
import { startFunction } from './module/function.ts'
import { moduleTools } from './module/module.ts'
import type { StartTool } from './tool.ts'

/**
 * Has its own connections and processes, keeps them for later calls, and does not keep this process
 * alive with them.
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
      case 'mcp':
        return startMcp(run, call)
      case 'function':
        return startFunction(run, call)
      case 'client':
        throw new Error('no executor starts a tool of a client')
      default:
        return noSuchKind(run)
    }
  }
}

/** Shows the kind only: the rest may be a credential. */
function noSuchKind(run: never): never {
  throw new Error(`no such kind of tool: ${(run as { kind: string }).kind}`)
}
