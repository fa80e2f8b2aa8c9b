// The MCP servers behind a gateway: their tools under the names that the host sees, and the server
// and tool behind each name.
// UPSTREAMS-1. A tool whose calls cannot be judged is not offered: its schema or its name cannot be
//     used. The log has the reason.
// UPSTREAMS-2. A server that does not answer keeps its last list. Its calls report the fault.

import type { Client, Tool as ServerTool } from '@modelcontextprotocol/client'
import type { Logger } from 'pino'
import { connectionTo } from '../../../../services/executor/tools/mcp/connection.ts'
import {
  type Naming,
  prefixed,
  toolsOfServer,
} from '../../../../services/executor/tools/mcp/listed-tools.ts'
import type { McpServer, McpTool } from '../../../../shared/agents/agents.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'

/** A list as the host gets it. `declared`: the same tools in the form of Messages. */
export type OfferedTools = {
  listed: readonly ServerTool[]
  declared: readonly unknown[]
  runs: ReadonlyMap<string, McpTool>
}

export type Upstreams = {
  servers: readonly McpServer[]
  /** Whether names have the server's name before them. */
  isPrefixed: boolean
  /** Resolves when each server has given its list. Throws `mcp.unreachable` with each fault. */
  open(): Promise<void>
  /** The tools now, for a host that requests the list. */
  tools(): Promise<OfferedTools>
  /**
   * The list that judges a call: the last one. It is read again if a server has reported a change,
   * or if it lacks the tool.
   */
  toolsFor(tool: string): Promise<OfferedTools>
  /** The client of a server. Throws an Error for people. */
  client(server: McpServer): Promise<Client>
  /** The listener is called when a server reports that its tools changed. */
  onChanged(listener: () => void): void
  close(): Promise<void>
}

/** A single server keeps its names, as MCP allows them. */
const ownNames: Naming = {
  nameOf: (_, tool) => tool,
  shape: /^[a-zA-Z0-9_./-]{1,128}$/,
  rule: 'at most 128 of a-z, A-Z, 0-9, _, -, . and /',
}

const noTools: OfferedTools = { listed: [], declared: [], runs: new Map() }

/** `isPrefixed`: names are SERVER__TOOL. */
export function upstreamsOf(
  given: readonly McpServer[],
  { isPrefixed, log }: { isPrefixed: boolean; log: Logger },
): Upstreams {
  const servers = given.map((server): McpServer => ({ ...server, noPerson: true }))
  const listeners = new Set<() => void>()
  const lists = new Map<McpServer, readonly ServerTool[]>()
  let offered = noTools
  let isChanged = false
  const reported = new Map<McpServer, string>()
  const naming = isPrefixed ? prefixed : ownNames
  for (const server of servers)
    connectionTo(server, log).onChanged(() => {
      isChanged = true
      for (const listener of listeners) listener()
    })

  /** Keeps UPSTREAMS-2. */
  async function read(server: McpServer): Promise<boolean> {
    const last = lists.get(server)
    try {
      const now = await connectionTo(server, log).tools()
      lists.set(server, now)
      return now !== last
    } catch (error) {
      if (last === undefined) throw error
      log.warn({ err: error, server: server.name }, 'the last list of an MCP server is kept')
      return false
    }
  }

  /** Keeps UPSTREAMS-1. */
  function merged(): OfferedTools {
    const listed: ServerTool[] = []
    const runs = new Map<string, McpTool>()
    for (const server of servers) {
      const own = lists.get(server) ?? []
      const { tools, leftOut } = toolsOfServer(server, own, new Set(runs.keys()), naming)
      const faults = JSON.stringify(leftOut)
      if (leftOut.length > 0 && reported.get(server) !== faults)
        log.warn({ server: server.name, leftOut }, 'tools of an MCP server are left out')
      reported.set(server, faults)
      const known = new Map(own.map((one) => [one.name, one]))
      for (const { declaration, run } of tools) {
        const one = run.kind === 'mcp' ? known.get(run.tool) : undefined
        if (run.kind !== 'mcp' || one === undefined) continue
        runs.set(declaration.name, run)
        listed.push({ ...one, name: declaration.name })
      }
    }
    const declared = listed.map(({ name, description, inputSchema }) => ({
      ...{ name, description, input_schema: inputSchema },
    }))
    return { listed, declared, runs }
  }

  async function readAll(): Promise<OfferedTools> {
    isChanged = false
    const changed = await Promise.all(servers.map(read))
    if (changed.some(Boolean)) offered = merged()
    return offered
  }

  return {
    servers,
    isPrefixed,
    async open() {
      const readings = await Promise.allSettled(servers.map(read))
      const faults = readings.flatMap((reading) =>
        reading.status === 'rejected' ? [(reading.reason as Error).message] : [],
      )
      if (faults.length > 0) throw new WeirError('mcp.unreachable', faults.join('\n'))
      offered = merged()
    },
    tools: readAll,
    toolsFor: async (tool) => (isChanged || !offered.runs.has(tool) ? readAll() : offered),
    client: (server) => connectionTo(server, log).client(),
    onChanged: (listener) => void listeners.add(listener),
    async close() {
      await Promise.all(servers.map((server) => connectionTo(server).close()))
    },
  }
}
