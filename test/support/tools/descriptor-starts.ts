// A program that starts every kind of foreign program, and prints as JSON the text that each one reads
// through descriptor 30. The test leaves an open folder there, as a careless launcher would.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGuardChild } from '../../../apps/replay/guard/guard-launch.ts'
import { createKeeper } from '../../../services/executor/performer/kept/keeper.ts'
import type { CommandTool } from '../../../shared/agents/agents.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { startCommand } from '../../../shared/tools/command/command.ts'
import { serverProcess } from '../../../shared/tools/mcp/server-process.ts'
import { moduleTools } from '../../../shared/tools/module/module.ts'
import type { ToolCall } from '../../../shared/tools/tool.ts'

const sandbox = process.argv[2] === 'off' ? 'off' : 'default'
const cwd = mkdtempSync(join(tmpdir(), 'weir-starts-'))
const secret = '/proc/self/fd/30/secret.txt'
const print = `let text = 'closed'
try { text = require('node:fs').readFileSync('${secret}', 'utf8') } catch {}
process.stderr.write(text)`
const file = join(cwd, 'tool.mjs')
writeFileSync(
  file,
  `import { readFileSync } from 'node:fs'
export default () => {
  try { return readFileSync('${secret}', 'utf8') } catch { return 'closed' }
}`,
)
const call: ToolCall = {
  arguments: '{}',
  idempotencyKey: 'key',
  timeoutMs: 20_000,
  graceMs: 1_000,
  clock: systemClock,
}
const argv = ['sh', '-c', `cat ${secret} 2>/dev/null || echo closed`] as [string, ...string[]]
const command: CommandTool = { kind: 'command', argv, cwd, sandbox }

async function throughKeeper(): Promise<string> {
  const log = { warn() {}, error() {} }
  const keeper = createKeeper({ root: join(cwd, 'kept'), secrets: [], log })
  const claim = { conversation: 'c', turn: 1, round: 1, ordinal: 0, attempt: 1 }
  const ended = keeper.start(command, call, { claim, leftMs: 60_000 } as never).ended
  const { text } = await ended
  keeper.close()
  return text
}

async function throughModule(): Promise<string> {
  const modules = moduleTools()
  const { text } = await modules.start({ kind: 'module', file, cwd, sandbox }, call).ended
  modules.close()
  return text
}

async function throughServer(): Promise<string> {
  const script = ['sh', '-c', `(cat ${secret} || echo closed) >&2`] as [string, ...string[]]
  const server = serverProcess({ argv: script, cwd, sandbox } as never, {
    onNoise() {},
    onBytes() {},
  })
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => resolve()
  })
  await server.start()
  await closed
  return server.state().printed
}

async function throughGuard(): Promise<string> {
  const child = startGuardChild([process.execPath, '-e', print], { folders: [cwd], files: [] })
  let text = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    text += bytes.toString()
  })
  await new Promise((resolve) => child.once('close', resolve))
  return text
}

// An idle server keeps no process alive.
setInterval(() => {}, 1_000)

const read = {
  command: (await startCommand(command, call).ended).text,
  kept: await throughKeeper(),
  module: await throughModule(),
  server: await throughServer(),
  guard: await throughGuard(),
}
rmSync(cwd, { recursive: true, force: true })
process.stdout.write(JSON.stringify(read), () => process.exit(0))
