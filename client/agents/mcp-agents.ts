// The tools of the MCP servers of agents. A list of a server is read when Weir opens, when the server
// reports a change, and at a question that comes later than its time to live. A turn keeps the
// list that its question had. A process without the server reads its list from a file.
// One part of a process keeps the tools of an agent up to date. Others that get the
// agent use them.

import { isDeepStrictEqual } from 'node:util'
import type { Tool as ServerTool } from '@modelcontextprotocol/client'
import type { Logger } from 'pino'
import type { Agent, Agents, McpServer, Tool } from '../../shared/agents/agents.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { limits } from '../../shared/contract/limits.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { connectionTo } from '../../shared/tools/mcp/connection.ts'
import { type LeftOut, toolsOfServer, wantedOf } from '../../shared/tools/mcp/listed-tools.ts'
import { inToolList, readToolList } from '../../shared/tools/mcp/tool-list-file.ts'
import { noPins, type ToolPins, toolPins } from '../../shared/tools/mcp/tool-pins.ts'
import { declareSandboxes } from '../../shared/tools/sandbox/sandbox-check.ts'

export type McpAgents<Some extends Agents = Agents> = {
  /** The same agents. Those with servers have their tools too. */
  agents: Some
  /**
   * Reads the lists of the agent's servers that may have changed. A server that does not answer
   * keeps its last list, and its calls report the fault.
   */
  refresh(agent: string): void
  /** Ends the connections and the programs after them. */
  close(): Promise<void>
}

/** The agents that are kept up to date, with the function that reads their lists. */
const kept = new WeakMap<Agent, () => void>()

/**
 * A server that gives no list is a warning, and its tools come with a later list. `pinsFolder`: the data
 * folder with the pins of tools. Default: no tool is held. Throws `folder.foreign`. A
 * `toolsFile` that cannot be read and declarations that are too large are `mcp.unreachable`. Servers that
 * another process reaches and that have no `toolsFile` are `agent.invalid`.
 */
export async function openMcpAgents<Provider extends string>(
  agents: Agents<Provider>,
  log: Logger,
  pinsFolder?: string,
): Promise<McpAgents<Agents<Provider>>> {
  const served = [...agents.values()].filter(
    (agent) => (agent.mcp ?? []).length > 0 && !kept.has(agent),
  )
  refuseWithoutList(served)
  declareSandboxes(agents) // before the first server starts
  readFiles(served)
  const pins = pinsFolder === undefined || served.length === 0 ? noPins : toolPins(pinsFolder)
  const live = new Map(served.map((agent) => [agent.name, liveAgent(agent, { log, pins })]))
  const endLook = pins.onChanged(() => {
    for (const { refresh } of live.values()) refresh()
  })
  const close = async () => {
    endLook()
    await Promise.all([...live.values()].map((one) => one.close()))
  }
  const readings = await Promise.allSettled([...live.values()].map(({ read }) => read()))
  const faults = readings.flatMap((reading) =>
    reading.status === 'rejected' ? [(reading.reason as Error).message] : [],
  )
  if (faults.length > 0) {
    await close()
    throw new WeirError('mcp.unreachable', faults.join('\n'))
  }
  const found =
    live.size === 0
      ? agents
      : new Map([...agents].map(([name, agent]) => [name, live.get(name)?.agent ?? agent]))
  return {
    agents: found,
    refresh(name) {
      const agent = found.get(name)
      if (agent !== undefined) kept.get(agent)?.()
    },
    close,
  }
}

/**
 * The folder with the pins of tools. Undefined on a shared bus: the processes of a deployment have a file
 * of tools instead (`toolsFile`), because each has its own folder.
 */
export function pinsFolderOf(settings: Pick<Settings, 'bus' | 'dataFolder'>): string | undefined {
  return busKindOf(settings).isLocal ? settings.dataFolder : undefined
}

function refuseWithoutList(agents: readonly Agent[]): void {
  const faults = agents.flatMap(({ name, mcp = [] }) =>
    mcp
      .filter(({ run, toolsFile }) => run.kind === 'elsewhere' && toolsFile === undefined)
      .map(
        (server) =>
          `agent ${name}: mcp.${server.name} needs toolsFile, because only the process of the executor reaches the server; name a file there, write it with weir mcp tools, and give it to all processes`,
      ),
  )
  if (faults.length > 0) throw new WeirError('agent.invalid', faults.join('\n'))
}

/** Only a person can mend a file, so no later question would find it. */
function readFiles(agents: readonly Agent[]): void {
  const faults = agents.flatMap(({ name, mcp = [] }) =>
    mcp.flatMap((server) => {
      try {
        if (server.toolsFile !== undefined) listInFile(server)
        return []
      } catch (error) {
        return [`agent ${name}: ${(error as Error).message}`]
      }
    }),
  )
  if (faults.length > 0) throw new WeirError('mcp.unreachable', faults.join('\n'))
}

/** The tools of one server, or the reason why it gives no list. */
export type McpReading =
  | { server: McpServer; tools: Tool[]; leftOut: LeftOut[] }
  | { server: McpServer; fault: string }

/**
 * Asks each server of the agent for its tools. A server has its `startMs` to connect, and
 * limits.mcpAnswerMsMax for its list.
 */
export async function mcpToolsOf(agent: Agent, log: Logger): Promise<McpReading[]> {
  declareSandboxes(new Map([[agent.name, agent]]))
  return readingsOf(agent, await listsOf(agent, { log, pins: noPins }))
}

const listsInFiles = new WeakMap<McpServer, ServerTool[]>()

/**
 * `written`: of the file, which is read once. `given`: by the server, with the tools that do not fit the
 * protocol and those that are held. One of them is there.
 */
type Lists = {
  written?: readonly ServerTool[]
  given?: readonly ServerTool[]
  unfit?: readonly LeftOut[]
  held?: readonly LeftOut[]
}

type ListOptions = { log: Logger; pins: ToolPins }

/** A file of tools holds changed ones too, so its server has no pins. */
function listsOf(
  { mcp = [] }: Agent,
  { log, pins }: ListOptions,
): Promise<PromiseSettledResult<Lists>[]> {
  return Promise.allSettled(
    mcp.map(async (server): Promise<Lists> => {
      const written = server.toolsFile === undefined ? undefined : listInFile(server)
      const isElsewhere = server.run.kind === 'elsewhere'
      if (isElsewhere) return { ...(written && { written }) }
      const connection = connectionTo(server, log)
      const listed = await connection.tools()
      const unfit = connection.unfit()
      if (written !== undefined) return { written, given: listed, unfit }
      const { tools: given, held } = pins.checked(server, listed)
      return { given, unfit, held }
    }),
  )
}

function listInFile(server: McpServer): ServerTool[] {
  const list = listsInFiles.get(server) ?? readToolList(server)
  listsInFiles.set(server, list)
  return list
}

type Settled = Awaited<ReturnType<typeof listsOf>>

function readingsOf({ mcp = [], tools }: Agent, lists: Settled): McpReading[] {
  const names = new Set(tools.map(({ declaration }) => declaration.name))
  return mcp.flatMap((server, i): McpReading[] => {
    const list = lists[i]
    if (list === undefined) return []
    if (list.status === 'rejected')
      return [{ server, fault: list.reason instanceof Error ? list.reason.message : 'no list' }]
    const reading = readingOf(server, list.value, names)
    for (const { declaration } of reading.tools) names.add(declaration.name)
    return [{ server, ...reading }]
  })
}

function readingOf(
  server: McpServer,
  { written, given = [], unfit = [], held = [] }: Lists,
  names: ReadonlySet<string>,
): { tools: Tool[]; leftOut: LeftOut[] } {
  const inFile = written && toolsOfServer(server, written, names)
  if (inFile !== undefined && server.run.kind === 'elsewhere') return inFile
  const own = toolsOfServer(server, given, names)
  const leftOut = [...wantedOf(server, [...unfit, ...held]), ...own.leftOut]
  if (inFile === undefined) return { tools: own.tools, leftOut }
  const common = inToolList(own.tools, inFile.tools)
  return { tools: common.tools, leftOut: [...leftOut, ...common.leftOut] }
}

/** Ends the connections to the agent's servers, and the programs after them. */
export async function closeMcpOf({ mcp = [] }: Agent): Promise<void> {
  await Promise.all(mcp.filter(isHere).map((server) => connectionTo(server).close()))
}

const isHere = ({ run }: McpServer) => run.kind !== 'elsewhere'

/** `declarations`: of the servers of one agent, as JSON. Undefined: they fit into a message. */
function sizeFault(agent: string, declarations: string): string | undefined {
  const bytes = Buffer.byteLength(declarations)
  if (bytes <= limits.agentDeclarationsBytesMax) return undefined
  return `the MCP servers of ${agent} declare ${bytes} bytes of tools; at most ${limits.agentDeclarationsBytesMax} fit into a message: allow fewer tools (mcp.NAME.allow)`
}

const placeOf = (server: string, tool: string) => JSON.stringify([server, tool])

function liveAgent<Provider extends string>(written: Agent<Provider>, options: ListOptions) {
  const { log } = options
  const { mcp = [], tools: own } = written
  const agent: Agent<Provider> = { ...written, tools: own, formerTools: [] }
  let shown = ''
  let seen: Settled = []
  const faults = new Map<string, string>()

  async function read(): Promise<void> {
    const lists = (await listsOf(written, options)).map(orLast)
    if (isDeepStrictEqual(lists, seen)) return
    const found: Tool[] = []
    for (const reading of readingsOf(written, lists)) {
      if ('fault' in reading) continue
      const { server, tools, leftOut } = reading
      found.push(...tools)
      if (leftOut.length > 0)
        log.warn(
          { agent: agent.name, server: server.name, leftOut },
          'tools of an MCP server are left out',
        )
    }
    keep(found, heldIn(lists))
    seen = lists
  }

  function heldIn(lists: Settled): ReadonlySet<string> {
    const held = lists.flatMap((list, i) =>
      list.status === 'fulfilled'
        ? (list.value.held ?? []).map(({ tool }) => placeOf(mcp[i]?.name ?? '', tool))
        : [],
    )
    return new Set(held)
  }

  /** A server that does not answer keeps its last list. Each fault is one warning. */
  function orLast(list: Settled[number], i: number): Settled[number] {
    const server = mcp[i]?.name ?? ''
    if (list.status === 'fulfilled') {
      faults.delete(server)
      return list
    }
    const { message: fault } = list.reason as Error
    const last = seen[i]
    const hasList = last?.status === 'fulfilled'
    const effect = hasList
      ? 'the last list of tools of an MCP server is kept'
      : 'an MCP server gives no tools: the agent works without them until a later question finds it'
    if (faults.get(server) !== fault) log.warn({ agent: agent.name, server, fault }, effect)
    faults.set(server, fault)
    return hasList ? last : { status: 'rejected', reason: undefined }
  }

  /**
   * The same tools keep their objects: the hash of a declaration is computed once. A held tool is no
   * former one, so no open round calls it.
   */
  function keep(found: Tool[], held: ReadonlySet<string>): void {
    const isFree = ({ run }: Tool) =>
      run.kind !== 'mcp' || !held.has(placeOf(run.server.name, run.tool))
    agent.formerTools = (agent.formerTools ?? []).filter(isFree)
    const now = JSON.stringify(found.map(({ declaration }) => declaration))
    if (now === shown) return
    const fault = sizeFault(agent.name, now)
    if (fault !== undefined) throw new WeirError('mcp.unreachable', fault)
    const former = [...agent.tools.slice(own.length).filter(isFree), ...agent.formerTools]
    agent.formerTools = former.slice(0, limits.mcpFormerToolsMax)
    agent.tools = [...own, ...found]
    shown = now
  }

  function refresh(): void {
    read().catch((error: unknown) =>
      log.warn(
        { agent: agent.name, fault: (error as Error).message },
        'the last lists of tools of the MCP servers are kept',
      ),
    )
  }

  kept.set(agent, refresh)
  for (const server of mcp.filter(isHere)) connectionTo(server, log).onChanged(refresh)
  return {
    agent,
    read,
    refresh,
    close: () => closeMcpOf(written),
  }
}
