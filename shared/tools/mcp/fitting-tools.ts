// The list of a server that declares a tool against the protocol. The SDK refuses such a list as a
// whole. Here only that tool is left out.

import type { Client, Tool as ServerTool, StandardSchemaV1 } from '@modelcontextprotocol/client'
import { isObject } from '../../lib/json/json-object.ts'
import { cutToBytes } from '../../lib/text-cut.ts'
import type { LeftOut } from './listed-tools.ts'

/** Pages of the list of an MCP server. */
export const mcpToolPagesMax = 64

export type ToolList = { tools: ServerTool[]; ttlMs?: number }
export type Fitting = ToolList & { unfit: LeftOut[] }

/** Asks again, page by page. Throws an Error for people if the answer has no list. */
export async function fittingTools(
  client: Client,
  options: { timeout: number; signal: AbortSignal },
): Promise<Fitting> {
  const { specTypeSchemas } = await import('@modelcontextprotocol/client')
  const found: Fitting = { tools: [], unfit: [] }
  let cursor: string | undefined
  for (let pages = 0; pages < mcpToolPagesMax; pages += 1) {
    const request = { method: 'tools/list', ...(cursor !== undefined && { params: { cursor } }) }
    const page = await client.request(request, anyObject, options)
    if (!Array.isArray(page.tools)) throw new Error('its answer to tools/list has no list of tools')
    for (const tool of page.tools) {
      const checked = await specTypeSchemas.Tool['~standard'].validate(tool)
      if (checked.issues === undefined) found.tools.push(checked.value)
      else found.unfit.push({ tool: nameOf(tool), reason: reasonOf(checked.issues) })
    }
    if (pages === 0 && typeof page.ttlMs === 'number') found.ttlMs = page.ttlMs
    if (typeof page.nextCursor !== 'string') return found
    cursor = page.nextCursor
  }
  throw new Error(`its list has more than ${mcpToolPagesMax} pages`)
}

function nameOf(tool: unknown): string {
  return isObject(tool) && typeof tool.name === 'string' ? cutToBytes(tool.name, 128) : '(no name)'
}

function reasonOf(issues: readonly StandardSchemaV1.Issue[]): string {
  const [first] = issues
  const path = (first?.path ?? []).map((part) => String(isObject(part) ? part.key : part))
  return `its declaration breaks the protocol: ${path.join('.') || 'it'} has a wrong type or is missing`
}

const anyObject: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'weir',
    validate: (value) =>
      isObject(value) ? { value } : { issues: [{ message: 'must be an object' }] },
  },
}
