// The MCP servers behind a gateway: their tools under the names that the host sees, and the server
// and tool after each name.
// A tool whose calls cannot be judged is not offered: its schema or its name cannot be
// used. The log has the reason.
// A server that does not answer keeps its last list. Its calls report the fault.
// A server that has never answered has no tools. No host waits for it: it is tried again
// in the background, and its list is a change.

import type { Client, Tool as ServerTool } from '@modelcontextprotocol/client'
import type { Logger } from 'pino'
import type { McpServer, McpTool } from '../../../../shared/agents/agents.ts'
import type { Declaration } from '../../../../shared/contract/messages.ts'
import { type Clock, systemClock } from '../../../../shared/lib/clock.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { cutToBytes } from '../../../../shared/lib/text-cut.ts'
import { connectionTo } from '../../../../shared/tools/mcp/connection.ts'
import {
  type Naming,
  prefixed,
  toolsOfServer,
  wantedOf,
} from '../../../../shared/tools/mcp/listed-tools.ts'
import {
  changedReason,
  declaredBy,
  noPins,
  type ToolPins,
} from '../../../../shared/tools/mcp/tool-pins.ts'
import { declarationOf } from '../../../../shared/transcript/transcript.ts'
import { type ResourceOwners, resourceOwners } from './resource-owners.ts'

/** How long the gateway waits for slower servers once one server has given its list. */
export const mcpSlowerMsMax = 20_000
/** The instructions of all MCP servers behind a gateway. The rest is cut. */
const mcpInstructionsBytesMax = 64 * 1024

/** A list as the host gets it. `declared`: the same tools, for a verdict. */
export type OfferedTools = {
  listed: readonly ServerTool[]
  declared: readonly Declaration[]
  runs: ReadonlyMap<string, McpTool>
  /** Of the servers, for the model. '': no server has any. */
  instructions: string
}

export type Upstreams = {
  /** Those that have given a list. */
  servers(): readonly McpServer[]
  /** Whether names have the server's name before them. */
  isPrefixed: boolean
  /**
   * Resolves when each server has given its list or a fault, which is a warning. A server without
   * an answer has mcpSlowerMsMax once another server has given its list.
   * Throws `mcp.unreachable` with each fault if no server gave a list.
   */
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
  resources: ResourceOwners
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

const noTools: OfferedTools = { listed: [], declared: [], runs: new Map(), instructions: '' }

/** `pins`: hold changed tools. Default: no tool is held. */
export type UpstreamsOptions = {
  isPrefixed: boolean
  log: Logger
  pins?: ToolPins
  clock?: Clock
}

/** `isPrefixed`: names are SERVER__TOOL. */
export function upstreamsOf(
  given: readonly McpServer[],
  { isPrefixed, log, pins = noPins, clock = systemClock }: UpstreamsOptions,
): Upstreams {
  const servers = given.map((server): McpServer => ({ ...server, noPerson: true }))
  const listeners = new Set<() => void>()
  const lists = new Map<McpServer, readonly ServerTool[]>()
  /** The instructions of each server with a list. */
  const texts = new Map<McpServer, string>()
  let offered = noTools
  /** The number of servers in it. */
  let offeredOf = 0
  let isChanged = false
  let isOpen = false
  const reported = new Map<McpServer, string>()
  const naming = isPrefixed ? prefixed : ownNames
  const faults = new Map<McpServer, string>()
  const retrying = new Map<McpServer, Promise<void>>()
  for (const server of servers) connectionTo(server, log).onChanged(reportChange)
  const endLook = pins.onChanged(reportChange)

  function reportChange(): void {
    isChanged = true
    for (const listener of listeners) listener()
  }

  /** Whether the list is another one than before. */
  async function read(server: McpServer): Promise<boolean> {
    const last = lists.get(server)
    try {
      const now = await connectionTo(server, log).tools()
      const text = (await clientOf(server)).getInstructions() ?? ''
      const isSame = now === last && text === texts.get(server)
      lists.set(server, now)
      texts.set(server, text)
      faults.delete(server)
      return !isSame
    } catch (error) {
      const { message: fault } = error as Error
      const effect =
        last === undefined
          ? 'an MCP server gives no tools: the others work without it, and it is tried again'
          : 'the last list of an MCP server is kept'
      if (faults.get(server) !== fault) log.warn({ server: server.name, fault }, effect)
      faults.set(server, fault)
      return false
    }
  }

  function retry(server: McpServer): Promise<void> {
    const running = retrying.get(server)
    if (running !== undefined) return running
    const reading = read(server)
      .then((isNew) => {
        if (isNew && isOpen) reportChange()
      })
      .finally(() => retrying.delete(server))
    retrying.set(server, reading)
    return reading
  }

  function merged(): OfferedTools {
    const listed: ServerTool[] = []
    const runs = new Map<string, McpTool>()
    const parts: [string, string][] = []
    for (const server of servers) {
      const text = texts.get(server)
      const { tools: own, held, instructions } = pins.checked(server, lists.get(server) ?? [], text)
      parts.push([server.name, instructions])
      const { tools, leftOut: unusable } = toolsOfServer(server, own, new Set(runs.keys()), naming)
      const leftOut = [...wantedOf(server, [...connectionTo(server).unfit(), ...held]), ...unusable]
      if ((text ?? '') !== instructions)
        leftOut.push({ tool: 'its instructions', reason: changedReason })
      const faults = JSON.stringify(leftOut)
      if (leftOut.length > 0 && reported.get(server) !== faults)
        log.warn({ server: server.name, leftOut }, 'tools of an MCP server are left out')
      reported.set(server, faults)
      const known = new Map(own.map((one) => [one.name, one]))
      for (const { declaration, run } of tools) {
        const one = run.kind === 'mcp' ? known.get(run.tool) : undefined
        if (run.kind !== 'mcp' || one === undefined) continue
        runs.set(declaration.name, run)
        listed.push({ ...declaredBy(one), name: declaration.name })
      }
    }
    const declared = listed.map(({ name, description, inputSchema }) =>
      declarationOf(name, description, inputSchema),
    )
    return { listed, declared, runs, instructions: joined(parts, servers.length > 1) }
  }

  async function readAll(): Promise<OfferedTools> {
    isChanged = false
    for (const server of servers) if (!lists.has(server)) void retry(server)
    const shown = [...lists.keys()]
    const changed = await Promise.all(shown.map(read))
    if (changed.some(Boolean) || shown.length !== offeredOf || pins.isChanged()) mergeAll()
    return offered
  }

  function mergeAll(): void {
    offered = merged()
    offeredOf = lists.size
  }

  const answering = () => servers.filter((server) => lists.has(server))
  const clientOf = (server: McpServer) => connectionTo(server, log).client()

  return {
    servers: answering,
    resources: resourceOwners(answering, clientOf, servers.length === 1),
    isPrefixed,
    async open() {
      const { promise: enough, resolve } = Promise.withResolvers<void>()
      let cancel: (() => void) | undefined
      const readings = servers.map(async (server) => {
        await retry(server)
        if (lists.has(server)) cancel ??= clock.after(mcpSlowerMsMax, resolve)
      })
      await Promise.race([Promise.all(readings), enough])
      cancel?.()
      isOpen = true
      for (const server of retrying.keys())
        log.warn({ server: server.name }, 'an MCP server starts slowly: its tools come later')
      if (lists.size === 0 && servers.length > 0)
        throw new WeirError('mcp.unreachable', [...faults.values()].join('\n'))
      mergeAll()
    },
    tools: readAll,
    toolsFor: async (tool) => (isChanged || !offered.runs.has(tool) ? readAll() : offered),
    client: clientOf,
    onChanged: (listener) => void listeners.add(listener),
    async close() {
      endLook()
      await Promise.all(servers.map((server) => connectionTo(server).close()))
    },
  }
}

/** `texts`: of each server with its name. One server keeps its text, as it is. */
function joined(texts: readonly [string, string][], isNamed: boolean): string {
  const parts = texts.filter(([, text]) => text.trim() !== '')
  const named = parts.map(([name, text]) => (isNamed ? `${name}:\n${text}` : text))
  return cutToBytes(named.join('\n\n'), mcpInstructionsBytesMax)
}
