// The file with the tools of an MCP server, in the form of its answer to `tools/list`. Processes
// without the server offer these tools, and the process with the server offers no others.
// A tool that the server changed after the file was written is not offered, and its
// calls do not run.

import type { Tool as ServerTool } from '@modelcontextprotocol/client'
import { declarationHash, type McpServer, type Tool } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import { replaceFile } from '../../lib/files/whole-file.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { readText } from '../../settings/text-file.ts'
import type { LeftOut } from './listed-tools.ts'

/** Throws an Error for people. */
export function readToolList({ name, toolsFile = '' }: McpServer): ServerTool[] {
  const content = readText(toolsFile, limits.mcpListBytesMax)
  const list = 'text' in content ? boundedJson(content.text, limits.jsonDepthMax) : undefined
  const tools = isObject(list) && Array.isArray(list.tools) ? list.tools : undefined
  if (tools?.every(isServerTool)) return tools
  const fault = 'fault' in content ? content.fault : 'has no list of tools'
  throw new Error(`the toolsFile of ${name}, ${toolsFile}, ${fault}; write it with weir mcp tools`)
}

function isServerTool(value: unknown): value is ServerTool {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    ['undefined', 'string'].includes(typeof value.description) &&
    isObject(value.inputSchema)
  )
}

/** Throws `output.unwritable`. */
export function writeToolList(toolsFile: string, tools: readonly ServerTool[]): void {
  replaceFile(toolsFile, `${JSON.stringify({ tools }, null, 2)}\n`, { mode: 0o666 })
}

/** Of the tools of the server, those that its file has too. */
export function inToolList(
  tools: readonly Tool[],
  written: readonly Tool[],
): { tools: Tool[]; leftOut: LeftOut[] } {
  const hashes = new Map(written.map((tool) => [tool.declaration.name, hashOf(tool)]))
  const [kept, leftOut]: [Tool[], LeftOut[]] = [[], []]
  for (const tool of tools) {
    const { name } = tool.declaration
    const known = hashes.get(name)
    hashes.delete(name)
    if (known === hashOf(tool)) kept.push(tool)
    else leftOut.push({ tool: name, reason: known === undefined ? isNew : hasChanged })
  }
  for (const name of hashes.keys()) leftOut.push({ tool: name, reason: isGone })
  return { tools: kept, leftOut }
}

const hashOf = ({ declaration }: Tool) => declarationHash(declaration)
const again = 'look at it, then write the file again with weir mcp tools'
const isNew = `it is not in toolsFile; ${again}`
const hasChanged = `it is another one in toolsFile; ${again}`
const isGone = 'it is in toolsFile, and the server does not have it'
