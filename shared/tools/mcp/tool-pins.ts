// The tools of MCP servers as they were at their first use, in a file of the data folder. Processes of one
// folder share the file.
// Each change is made under a lock from a fresh reading, so no process loses a pin of another one.
// A tool whose description or schema differs from its pin is held: it is not offered, and
// its calls do not run, until a person accepts the change.
// A person accepts the declaration that was shown: its id is made of it.
// A host gets the members that a pin holds, and no others. A server's instructions have a
// pin too, because hosts put them into the prompt. Hosts get the pinned text.

import { hash } from 'node:crypto'
import { existsSync, rmSync, statSync, unwatchFile, watchFile } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Tool as ServerTool } from '@modelcontextprotocol/client'
import type { McpServer } from '../../agents/agents.ts'
import { type FileLock, lockFile } from '../../bus/embedded/file/lock.ts'
import { limits } from '../../contract/limits.ts'
import { type Clock, type Milliseconds, systemClock } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { claimFolder } from '../../lib/files/folder-owner.ts'
import { makeFolders } from '../../lib/files/make-folders.ts'
import { guarded, replaceFile } from '../../lib/files/whole-file.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { readText } from '../../settings/text-file.ts'
import type { LeftOut } from './listed-tools.ts'

/**
 * One declaration in the file with the pinned tools, and all of one server. The file has the bound
 * of a list.
 */
export const mcpPinBytesMax = 256 * 1024
const mcpPinsBytesMax = 8 * 1024 * 1024

/** The members of a tool that a model or a host reads, apart from the name. */
type Declared = Pick<
  ServerTool,
  'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>

/**
 * `of`: a digest of the command or the URL. `changed`: the newest declaration, if it is held. `seen`: the
 * last day with the tool in a list.
 */
export type ToolPin = {
  server: string
  of: string
  tool: string
  pinned: Declared
  changed?: Declared
  seen?: string
}

export type ToolPins = {
  /**
   * Pins new tools, and returns the tools that are not held. A server with `pin: off` has no pins.
   * `instructions`: those of the server. Undefined: nobody uses them.
   */
  checked(server: McpServer, tools: readonly ServerTool[], instructions?: string): Checked
  /** Whether the file is another one than at the last check. */
  isChanged(): boolean
  /** Calls the listener when another process changes the file. The result ends that. */
  onChanged(listener: () => void): () => void
}

/** `instructions`: those that are not held. */
type Checked = { tools: ServerTool[]; held: LeftOut[]; instructions: string }

export const noPins: ToolPins = {
  checked: (_, tools, instructions = '') => ({ tools: [...tools], held: [], instructions }),
  isChanged: () => false,
  onChanged: () => () => {},
}

export const pinsFileName = 'weir.mcp-tools.json'
/** How long the pin of a tool is kept that is in no list. */
const keptMs = 90 * 24 * 3_600_000
/** How often a process looks whether another one changed the file. */
const lookMs = 1_000
const formerFileName = 'mcp-tools.json'

/** Throws `folder.foreign`. */
export function toolPins(dataFolder: string, clock: Clock = systemClock): ToolPins {
  claimFolder(dataFolder)
  let version = versionOf(dataFolder)
  type Known = Checked & {
    version: string
    listed: readonly ServerTool[]
    text: string | undefined
  }
  const known = new Map<McpServer, Known>()
  const isChanged = () => versionOf(dataFolder) !== version

  function judgedNow(server: McpServer, tools: readonly ServerTool[]): Judged {
    const pins = readPins(dataFolder)
    const now = clock.now()
    const listed = { server, tools, today: dayOf(now) }
    const look = judged(pins, listed)
    if (!look.isChanged) return look
    return changedUnderLock(dataFolder, (newest) => {
      const again = judged(newest, listed)
      return { done: again, pins: unforgotten(again.pins, now) }
    })
  }

  return {
    isChanged,

    checked(server, tools, text) {
      if (server.pin === 'off') return noPins.checked(server, tools, text)
      const last = known.get(server)
      const isSame = last?.listed === tools && last.text === text
      if (isSame && last.version === versionOf(dataFolder)) return last
      const whole = text === undefined ? tools : [...tools, asTool(text)]
      const { tools: free, held, instructions } = judgedNow(server, whole)
      version = versionOf(dataFolder)
      const result = {
        tools: free.filter(({ name }) => name !== instructionsName),
        held: held.filter(({ tool }) => tool !== instructionsName),
        instructions,
        version,
        listed: tools,
        text,
      }
      known.set(server, result)
      return result
    },

    onChanged(listener) {
      const file = join(dataFolder, pinsFileName)
      const look = () => {
        if (isChanged()) listener()
      }
      watchFile(file, { interval: lookMs, persistent: false }, look)
      return () => unwatchFile(file, look)
    },
  }
}

type Listed = { server: McpServer; tools: readonly ServerTool[]; today: string }

type Judged = Checked & { pins: ToolPin[]; isChanged: boolean }

/** Changes the given pins. */
function judged(pins: ToolPin[], { server, tools, today }: Listed): Judged {
  const of = digestOf(server)
  const own = new Map(
    pins.filter((pin) => pin.server === server.name && pin.of === of).map((pin) => [pin.tool, pin]),
  )
  let room = limits.mcpListBytesMax - Buffer.byteLength(textOf(pins))
  let ownRoom = mcpPinsBytesMax - Buffer.byteLength(textOf([...own.values()]))
  let isChanged = false
  const free: ServerTool[] = []
  const held: LeftOut[] = []

  /** Undefined: the declaration has room in the file. */
  function fault(text: string): string | undefined {
    const bytes = Buffer.byteLength(text)
    if (bytes > mcpPinBytesMax)
      return `it has ${bytes} bytes, more than the ${mcpPinBytesMax} of a pin`
    if (bytes > ownRoom) return `its server has had more than ${mcpPinsBytesMax} bytes of tools`
    return bytes > room ? `${pinsFileName} is full` : undefined
  }

  function use(value: object): void {
    const bytes = Buffer.byteLength(JSON.stringify(value))
    room -= bytes
    ownRoom -= bytes
  }

  for (const tool of tools) {
    const declared = declaredBy(tool)
    const text = JSON.stringify(declared)
    const pin = own.get(tool.name)
    if (pin !== undefined && pin.seen !== today) {
      pin.seen = today
      isChanged = true
    }
    if (pin === undefined) {
      const reason =
        own.size >= limits.mcpFormerToolsMax ? 'its server has had too many tools' : fault(text)
      if (reason !== undefined) {
        held.push({ tool: tool.name, reason })
        continue
      }
      const added = { server: server.name, of, tool: tool.name, pinned: declared, seen: today }
      pins.push(added)
      own.set(tool.name, added)
      use(added)
      isChanged = true
      free.push(tool)
    } else if (isDeepStrictEqual(pin.pinned, declared)) {
      if (pin.changed !== undefined) isChanged = true
      delete pin.changed
      free.push(tool)
    } else {
      const reason = isDeepStrictEqual(pin.changed, declared) ? undefined : fault(text)
      held.push({ tool: tool.name, reason: reason ?? changedReason })
      if (reason !== undefined || isDeepStrictEqual(pin.changed, declared)) continue
      pin.changed = declared
      use(declared)
      isChanged = true
    }
  }
  const instructions = own.get(instructionsName)?.pinned.description ?? ''
  return { tools: free, held, instructions, pins, isChanged }
}

/** Why a tool, or the instructions of a server, are held. */
export const changedReason = 'it changed after its first use: weir mcp approve'

/** Tools that no list has had for so long leave the file. */
function unforgotten(pins: readonly ToolPin[], now: Milliseconds): ToolPin[] {
  const oldest = dayOf(now - keptMs)
  return pins.map((pin) => ({ seen: dayOf(now), ...pin })).filter(({ seen }) => seen >= oldest)
}

function dayOf(time: Milliseconds): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** The held tools. Throws `settings.invalid` if the file cannot be used. */
export function heldPins(dataFolder: string): (ToolPin & { changed: Declared })[] {
  return readPins(dataFolder).filter((pin) => pin.changed !== undefined) as never
}

/** Long: a server chooses the text, and could find two declarations with one short id. */
export function pinId({ server, of, tool, changed }: ToolPin): string {
  return hash('sha256', JSON.stringify([server, of, tool, changed])).slice(0, 40)
}

/**
 * Pins the change with this id. False: there is none, perhaps because the tool changed again. Throws
 * `folder.foreign`, and errors of writing.
 */
export function acceptPin(dataFolder: string, id: string): boolean {
  claimFolder(dataFolder)
  return changedUnderLock(dataFolder, (pins) => {
    const pin = pins.find((one) => one.changed !== undefined && pinId(one) === id)
    if (pin?.changed === undefined) return { done: false }
    pin.pinned = pin.changed
    delete pin.changed
    return { done: true, pins }
  })
}

/** The name of the pin with a server's instructions. No tool that is offered has it. */
export const instructionsName = ''

function asTool(instructions: string): ServerTool {
  return { name: instructionsName, description: instructions, inputSchema: { type: 'object' } }
}

/** The members that a pin holds. */
export function declaredBy(tool: ServerTool): Declared {
  const { title, description, inputSchema, outputSchema, annotations } = tool
  const all = { title, description, inputSchema, outputSchema, annotations }
  return JSON.parse(JSON.stringify(all)) as Declared // as the file gives it back
}

/** An argument or a URL may hold a secret. */
function digestOf({ run }: McpServer): string {
  const place = { url: 'url' in run && run.url, argv: 'argv' in run && run.argv }
  return hash('sha256', JSON.stringify(place)).slice(0, 12)
}

/** A file with its former name is read until the first change. */
function readPins(dataFolder: string): ToolPin[] {
  const file = [pinsFileName, formerFileName].map((name) => join(dataFolder, name)).find(existsSync)
  if (file === undefined) return []
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
    (value.changed === undefined || isObject(value.changed)) &&
    (value.seen === undefined || typeof value.seen === 'string')
  )
}

/** Without `pins` nothing is written. */
type Change<T> = { done: T; pins?: readonly ToolPin[] }

function changedUnderLock<T>(dataFolder: string, change: (pins: ToolPin[]) => Change<T>): T {
  const file = join(dataFolder, pinsFileName)
  guarded(file, () => makeFolders(dataFolder, 0o700))
  const lock = lockedOnceFree(file)
  try {
    const { done, pins } = change(readPins(dataFolder))
    if (pins === undefined) return done
    replaceFile(file, textOf(pins), { mode: 0o600 })
    rmSync(join(dataFolder, formerFileName), { force: true })
    return done
  } finally {
    lock.release()
  }
}

/** Another process has the lock for the time of one write. */
function lockedOnceFree(file: string): FileLock {
  for (let tries = 1; ; tries += 1) {
    try {
      return lockFile(file)
    } catch (error) {
      const isHeld = error instanceof WeirError && error.code === 'bus.locked'
      if (!isHeld || tries >= lockTriesMax) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockTryMs)
    }
  }
}

const lockTriesMax = 250
const lockTryMs = 20

/** One line for each tool. */
function textOf(pins: readonly ToolPin[]): string {
  return `{"pins":[\n${pins.map((pin) => JSON.stringify(pin)).join(',\n')}\n]}\n`
}

function versionOf(dataFolder: string): string {
  const stat = statSync(join(dataFolder, pinsFileName), { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs}`
}
