// The CPU time that a user pays before anything happens: imports, help, and `weir ask` until its first
// request. The program is that of the npm package, and a new process measures each value. Code that
// Node compiled is there already for commands, and imports compile it, as for a user.
// Run alone: node test/bench/first-second.ts
//
// Not measured: reading files that are not in memory, and the size of an installation, which
// package.e2e.test.ts checks.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeProgram } from '../../bin/bundle.ts'
import { startMeter } from './kafka-cpu.ts'
import { median } from './kafka-figures.ts'
import type { Row } from './row.ts'

const root = join(import.meta.dirname, '..', '..')
const times = 9

/** Prints the CPU time of the process when it ends. */
const report = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => { const { user, system } = process.cpuUsage()
    process.getBuiltinModule('node:fs').writeSync(2, \`\\ncpu \${(user + system) / 1e3}\\n\`) })`,
)}`

/** `program`: the arguments of Node. */
type Start = { name: string; goal: string; program: string[] }

export async function benchFirstSecond(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-first-second-'))
  const server = createServer().listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    await writeProgram(folder)
    cpSync(join(root, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const command = join(folder, 'bin', 'weir.js')
    const nothing = startRow(folder, {
      name: 'an empty program',
      goal: '',
      program: ['--eval', '0'],
    })
    const imported = (name: string, file: string, goal: string) =>
      startRow(folder, { name: `import of ${name}`, goal, program: importing(folder, file) })
    const helped = (words: string[]) =>
      startRow(folder, { name: `weir ${words.join(' ')}`, goal: '', program: [command, ...words] })
    return [
      nothing,
      imported('weir-agents', 'dist/client/weir.js', ' (goal <= 280)'),
      imported('weir-agents/guard', 'dist/client/guard/guard.js', ' (goal <= 120)'),
      helped(['--help']),
      helped(['ask', '--help']),
      await askRow(folder, command, server),
    ]
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
}

function importing(folder: string, file: string): string[] {
  const url = pathToFileURL(join(folder, file)).href
  return ['--input-type=module', '--eval', `await import(${JSON.stringify(url)})`]
}

function startRow(folder: string, { name, goal, program }: Start): Row {
  const start = () => {
    const flags = ['--disable-warning=ExperimentalWarning', '--import', report]
    const { stderr } = spawnSync(process.execPath, [...flags, ...program], {
      encoding: 'utf8',
      env: environmentIn(folder),
    })
    return Number(/\ncpu (\S+)\n/.exec(stderr)?.[1])
  }
  start() // it stores the compiled code of a command
  const value = median(Array.from({ length: times }, start))
  return { name: `first second: ${name}, CPU, p50${goal}`, value, unit: 'ms' }
}

/** Only variables of every shell. A command starts again to hide others. */
function environmentIn(folder: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: folder }
}

/** In pairs with a call by the SDK, because both mostly load code. */
async function askRow(folder: string, command: string, server: Server): Promise<Row> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const sdk = join(folder, 'sdk.mjs')
  writeFileSync(
    sdk,
    `import OpenAI from 'openai'
const client = new OpenAI({ apiKey: 'k', baseURL: '${url}', maxRetries: 0 })
await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }).catch(() => {})
`,
  )
  const agent = join(folder, 'agent.yaml')
  writeFileSync(
    agent,
    `name: bench
system: Help.
model: { provider: openai-chat, name: m, baseUrl: '${url}', apiKey: '\${KEY}' }
`,
  )
  const [asks, calls]: [number[], number[]] = [[], []]
  for (let n = 0; n <= times; n += 1) {
    const cwd = join(folder, `ask-${n}`)
    mkdirSync(cwd)
    const asked = await untilRequest(server, [command, 'ask', '--agent', agent, 'hi'], cwd)
    const called = await untilRequest(server, [sdk], cwd)
    if (n === 0) continue // it stored the compiled code
    asks.push(asked)
    calls.push(called)
  }
  const [value, baseline] = [median(asks), median(calls)]
  return {
    name: 'first second: weir ask to its first request, CPU, p50 (goal <= call + 350)',
    value,
    unit: 'ms',
    baseline: `a call by the SDK (${baseline} ms)`,
    ratio: value / baseline,
  }
}

/** The CPU time of a program until its first request, in milliseconds. The server refuses the request. */
async function untilRequest(server: Server, program: string[], cwd: string): Promise<number> {
  const env = { ...environmentIn(join(cwd, '..')), KEY: 'k' }
  const flags = ['--disable-warning=ExperimentalWarning', '--disable-sigusr1']
  const child = spawn(process.execPath, [...flags, ...program], { cwd, env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  const read = startMeter([child.pid ?? 0])
  let used: number | undefined
  const refuse: RequestListener = (_, response) => {
    used ??= read().cpuSeconds[0]
    response.writeHead(400, { 'content-type': 'application/json' }).end('{}')
  }
  server.on('request', refuse)
  await ended
  server.off('request', refuse)
  if (used === undefined) throw new Error(`${program.join(' ')} sent no request`)
  return Math.round(used * 1e3)
}

if (import.meta.main) console.table(await benchFirstSecond())
