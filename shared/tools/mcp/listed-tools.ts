// The tools of an MCP server as tools of an agent: their names, declarations and hints. Pure. A
// server is hostile input: a tool that cannot be offered is left out with its reason.
// No hint of a server lets a call start again: such a tool is never idempotent.
// A name stands for one tool. Of tools whose names differ only in case, none is offered.

import type { Tool as ServerTool } from '@modelcontextprotocol/client'
import type { McpServer, Tool } from '../../agents/agents.ts'
import { compiledSchema } from '../../contract/arguments/compiled-schema.ts'
import { limits } from '../../contract/limits.ts'
import { cutToBytes } from '../../lib/text-cut.ts'
import { matchesPattern } from '../../runtime/guards/tool-pattern.ts'

export type LeftOut = { tool: string; reason: string }

export type Naming = {
  nameOf(server: McpServer, tool: string): string
  shape: RegExp
  /** Completes "must be". */
  rule: string
}

/** SERVER__TOOL, as every provider accepts it. */
export const prefixed: Naming = {
  nameOf: ({ name }, tool) => `${name}__${tool}`,
  shape: /^[a-zA-Z0-9_-]{1,64}$/,
  rule: 'at most 64 of a-z, A-Z, 0-9, _ and -',
}

/**
 * `others`: the names that the agent's own tools and those of its other servers have. Tools that the
 * agent's file excludes are not in `leftOut`.
 */
export function toolsOfServer(
  server: McpServer,
  listed: readonly ServerTool[],
  others: ReadonlySet<string>,
  naming: Naming = prefixed,
): { tools: Tool[]; leftOut: LeftOut[] } {
  const wanted = listed.filter(({ name }) => isWanted(server, name))
  const times = new Map<string, number>()
  for (const { name } of wanted)
    times.set(name.toLowerCase(), (times.get(name.toLowerCase()) ?? 0) + 1)
  const tools: Tool[] = []
  const leftOut: LeftOut[] = []
  for (const one of wanted) {
    const reason =
      (times.get(one.name.toLowerCase()) ?? 0) > 1
        ? 'another tool has this name, perhaps in other letters'
        : faultOf(server, one, others, tools.length, naming)
    if (reason === undefined) tools.push(toolOf(server, one, naming))
    else leftOut.push({ tool: cutToBytes(one.name, 128), reason })
  }
  return { tools, leftOut }
}

/** Of the tools that do not fit the protocol, those that the agent's file does not exclude. */
export function wantedOf(server: McpServer, unfit: readonly LeftOut[]): LeftOut[] {
  return unfit.filter(({ tool }) => isWanted(server, tool))
}

function isWanted({ allow, deny = [] }: McpServer, name: string): boolean {
  const matches = (patterns: string[]) => patterns.some((pattern) => matchesPattern(pattern, name))
  return (allow === undefined || matches(allow)) && !matches(deny)
}

function faultOf(
  server: McpServer,
  { name, inputSchema }: ServerTool,
  others: ReadonlySet<string>,
  count: number,
  { nameOf, shape, rule }: Naming,
): string | undefined {
  const full = nameOf(server, name)
  if (!shape.test(full))
    return `its name would be ${full.length} characters, ${JSON.stringify(cutToBytes(full, 80))}; must be ${rule}`
  if (others.has(full)) return `the agent has a tool ${full} already`
  if (count >= limits.mcpToolsMax) return `the server has more than ${limits.mcpToolsMax} tools`
  const schema = JSON.stringify(inputSchema)
  if (Buffer.byteLength(schema) > limits.schemaBytesMax)
    return `its schema has ${Buffer.byteLength(schema)} bytes; at most ${limits.schemaBytesMax} are used`
  const compiled = compiledSchema(schema)
  return compiled.kind === 'unusable' ? `its schema is unusable: ${compiled.reason}` : undefined
}

function toolOf(
  server: McpServer,
  { name, description = '', inputSchema, annotations }: ServerTool,
  { nameOf }: Naming,
): Tool {
  const isReadOnly = server.isTrusted && annotations?.readOnlyHint === true
  const labels = (server.labels ?? []).flatMap(([pattern, given]) =>
    matchesPattern(pattern, name) ? given : [],
  )
  const readOnly = { mutates: false, denial: '' }
  const unknown = { mutates: null, denial: null }
  return {
    declaration: {
      name: nameOf(server, name),
      description: cutToBytes(description, limits.mcpDescriptionBytesMax),
      schema: JSON.stringify(inputSchema),
      idempotent: false,
      timeoutMs: server.wallMs,
      poll: false,
      hints:
        isReadOnly || labels.length > 0
          ? {
              ...(isReadOnly ? readOnly : unknown),
              ignoreFields: [],
              loopKey: [],
              labels: [...new Set(labels)],
              client: false,
              once: null,
            }
          : null,
    },
    run: { kind: 'mcp', server, tool: name },
    ...(server.traceparent === true && { traceparent: true }),
  }
}
