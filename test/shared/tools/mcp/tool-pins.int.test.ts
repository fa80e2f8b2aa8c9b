// The file of pinned tools, without a server.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import type { Tool } from '@modelcontextprotocol/client'
import type { McpServer } from '../../../../shared/agents/agents.ts'
import { lockFile } from '../../../../shared/bus/embedded/file/lock.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { replaceFile } from '../../../../shared/lib/files/whole-file.ts'
import {
  acceptPin,
  heldPins,
  mcpPinBytesMax,
  pinId,
  toolPins,
} from '../../../../shared/tools/mcp/tool-pins.ts'

const source = join(import.meta.dirname, '../../../../shared/tools/mcp/tool-pins.ts')
const day = 24 * 3_600_000

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-pins-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const file = () => join(folder, 'weir.mcp-tools.json')
const pinned = () =>
  (JSON.parse(readFileSync(file(), 'utf8')) as { pins: { tool: string }[] }).pins.map(
    ({ tool }) => tool,
  )

const server: McpServer = {
  name: 'files',
  run: { kind: 'command', argv: ['files'] },
  ...{ isTrusted: false, timeoutMs: 1_000, wallMs: 1_000 },
}

function tool(name: string, description = name): Tool {
  return { name, description, inputSchema: { type: 'object' } }
}

/** The held tools. */
function check(tools: Tool[], at = 0, of = server): string[] {
  const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 1) + at }
  const { held } = toolPins(folder, clock).checked(of, tools)
  return held.map(({ tool: name, reason }) => `${name}: ${reason}`)
}

it('keeps the pin that another process wrote while this one waited for the file', async () => {
  toolPins(folder).checked(server, [tool('first')])
  const lock = lockFile(file())
  const program = `
    const { toolPins } = await import(${JSON.stringify(source)})
    const { writeSync } = await import('node:fs')
    const clock = { now: () => (writeSync(1, 'has read'), Date.now()) }
    toolPins(${JSON.stringify(folder)}, clock).checked(${JSON.stringify(server)}, ${JSON.stringify([tool('second')])})`
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await once(child.stdout, 'data')
  const text = readFileSync(file(), 'utf8')
  replaceFile(file(), text.replaceAll('first', 'third'), { mode: 0o600 })
  lock.release()
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  expect(pinned()).toEqual(['third', 'second'])
})

it('forgets a tool that no list has had for 90 days, and no other one', () => {
  check([tool('gone'), tool('kept')])
  check([tool('kept')], 60 * day)
  check([tool('kept')], 90 * day)
  expect(pinned()).toEqual(['gone', 'kept'])
  check([tool('kept')], 91 * day)
  expect(pinned()).toEqual(['kept'])
  expect(check([tool('kept', 'another')], 180 * day)).toHaveLength(1)
})

it('reads a file with its former name, and writes only the new one', () => {
  check([tool('a')])
  const former = join(folder, 'mcp-tools.json')
  renameSync(file(), former)
  expect(check([tool('a', 'changed')])).toEqual([
    'a: it changed after its first use: weir mcp approve',
  ])
  expect(existsSync(former)).toBe(false)
  const [held] = heldPins(folder)
  expect(held && pinId(held)).toMatch(/^[0-9a-f]{40}$/) // no server finds two declarations with one id
  expect(held && acceptPin(folder, pinId(held))).toBe(true)
  expect(check([tool('a', 'changed')])).toEqual([])
})

it('leaves only files of Weir in the folder, which are those that the doctor looks at', () => {
  check([tool('a')])
  expect(readdirSync(folder).filter((name) => !name.startsWith('weir.'))).toEqual([])
})

it('holds a tool whose declaration is too large for a pin, also as a change', () => {
  const long = 'x'.repeat(mcpPinBytesMax)
  expect(check([tool('a'), tool('b', long)])[0]).toContain('b: it has 262')
  expect(check([tool('a', long)])[0]).toContain('a: it has 262')
  expect(heldPins(folder)).toEqual([])
})

it('holds the tools of one server past its part of the file, and takes those of another one', () => {
  const long = 'x'.repeat(mcpPinBytesMax - 1_000)
  const many = Array.from({ length: 40 }, (_, n) => tool(`t${n}`, long))
  const held = check(many)
  expect(held.at(-1)).toContain('t39: its server has had more than 8388608 bytes of tools')
  expect(check([...many, tool('small', 'x'.repeat(300_000))]).length).toBe(held.length + 1)
  expect(check([tool('a')], 0, { ...server, name: 'other' })).toEqual([])
})

it('holds no tool of a server with pin: off', () => {
  const off: McpServer = { ...server, pin: 'off' }
  expect(check([tool('a')], 0, off)).toEqual([])
  expect(check([tool('a', 'changed')], 0, off)).toEqual([])
  expect(existsSync(file())).toBe(false)
})
