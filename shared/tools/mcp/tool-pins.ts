// The tools of MCP servers as they were at their first use, in a file of the data folder. Processes of one
// folder share the file.
// TOOL-PINS-1. A tool whose description or schema differs from its pin is held: it is not offered, and
//     its calls do not run, until a person accepts the change.
// TOOL-PINS-2. A person accepts the declaration that was shown: its id is made of it.

import { hash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Tool as ServerTool } from '@modelcontextprotocol/client'
import type { McpServer } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import { WeirError } from '../../lib/errors.ts'
import { replaceFile } from '../../lib/files/whole-file.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { readText } from '../../settings/text-file.ts'
import type { LeftOut } from './listed-tools.ts'

/** The members of a tool that a model or a host reads, apart from the name. */
type Declared = Pick<
  ServerTool,
  'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>

/** `of`: a digest of the command or the URL. `changed`: the newest declaration, if it is held. */
export type ToolPin = {
  server: string
  of: string
  tool: string
  pinned: Declared
  changed?: Declared
}

export type ToolPins = {
  /** Pins new tools, and returns the tools that are not held. */
  checked(server: McpServer, tools: readonly ServerTool[]): { tools: ServerTool[]; held: LeftOut[] }
  /** Whether the file is another one than at the last check. */
  isChanged(): boolean
}

export const noPins: ToolPins = {
  checked: (_, tools) => ({ tools: [...tools], held: [] }),
  isChanged: () => false,
}

export const pinsFileName = 'mcp-tools.json'

export function toolPins(dataFolder: string): ToolPins {
  let version = versionOf(dataFolder)
  return {
    isChanged: () => versionOf(dataFolder) !== version,

    checked(server, tools) {
      const pins = readPins(dataFolder)
      const of = digestOf(server)
      const own = new Map(
        pins
          .filter((pin) => pin.server === server.name && pin.of === of)
          .map((pin) => [pin.tool, pin]),
      )
      const before = JSON.stringify(pins)
      const free: ServerTool[] = []
      const held: LeftOut[] = []
      for (const tool of tools) {
        const declared = declaredBy(tool)
        const pin = own.get(tool.name)
        if (pin === undefined) {
          if (own.size >= limits.mcpFormerToolsMax) {
            held.push({ tool: tool.name, reason: 'its server has had too many tools' })
            continue
          }
          const added = { server: server.name, of, tool: tool.name, pinned: declared }
          pins.push(added)
          own.set(tool.name, added)
        } else if (isDeepStrictEqual(pin.pinned, declared)) delete pin.changed
        else {
          pin.changed = declared
          held.push({ tool: tool.name, reason: 'it changed after its first use: weir mcp approve' })
          continue
        }
        free.push(tool)
      }
      if (JSON.stringify(pins) !== before) writePins(dataFolder, pins)
      version = versionOf(dataFolder)
      return { tools: free, held }
    },
  }
}

/** The held tools. Throws `settings.invalid` if the file cannot be used. */
export function heldPins(dataFolder: string): (ToolPin & { changed: Declared })[] {
  return readPins(dataFolder).filter((pin) => pin.changed !== undefined) as never
}

/** Keeps TOOL-PINS-2. */
export function pinId({ server, of, tool, changed }: ToolPin): string {
  return hash('sha256', JSON.stringify([server, of, tool, changed])).slice(0, 12)
}

/** Pins the change with this id. False: there is none, perhaps because the tool changed again. */
export function acceptPin(dataFolder: string, id: string): boolean {
  const pins = readPins(dataFolder)
  const pin = pins.find((one) => one.changed !== undefined && pinId(one) === id)
  if (pin?.changed === undefined) return false
  pin.pinned = pin.changed
  delete pin.changed
  writePins(dataFolder, pins)
  return true
}

function declaredBy(tool: ServerTool): Declared {
  const { title, description, inputSchema, outputSchema, annotations } = tool
  const all = { title, description, inputSchema, outputSchema, annotations }
  return JSON.parse(JSON.stringify(all)) as Declared // as the file gives it back
}

/** An argument or a URL may hold a secret. */
function digestOf({ run }: McpServer): string {
  const place = { url: 'url' in run && run.url, argv: 'argv' in run && run.argv }
  return hash('sha256', JSON.stringify(place)).slice(0, 12)
}

function readPins(dataFolder: string): ToolPin[] {
  const file = join(dataFolder, pinsFileName)
  if (!existsSync(file)) return []
  const content = readText(file, limits.mcpListBytesMax)
  const found = 'text' in content ? boundedJson(content.text, limits.jsonDepthMax) : undefined
  if (isObject(found) && Array.isArray(found.pins) && found.pins.every(isPin)) return found.pins
  const fault = 'fault' in content ? content.fault : 'has no list of tools'
  throw new WeirError(
    'settings.invalid',
    `${file} ${fault}; remove the file to pin the tools of MCP servers again`,
  )
}

function isPin(value: unknown): value is ToolPin {
  return (
    isObject(value) &&
    [value.server, value.of, value.tool].every((member) => typeof member === 'string') &&
    isObject(value.pinned) &&
    (value.changed === undefined || isObject(value.changed))
  )
}

function writePins(dataFolder: string, pins: readonly ToolPin[]): void {
  const text = `${JSON.stringify({ pins }, null, 2)}\n`
  replaceFile(join(dataFolder, pinsFileName), text, { mode: 0o600 })
}

function versionOf(dataFolder: string): string {
  const stat = statSync(join(dataFolder, pinsFileName), { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs}`
}
