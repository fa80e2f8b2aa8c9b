// MCP: calls of Weir as a client next to those of the SDK alone, and the time that the gateway adds to a
// call of a host. The server answers at once, over a pipe. The log of the gateway is in memory. Both
// sides take turns in blocks of ten calls, so that they share the load of the machine. Run alone:
// node test/bench/mcp.ts
//
// Not measured: HTTP, guards, a log in a file, large results, parallel calls, and the stages between
// the model's call and its start (pipeline.ts and executor.ts have those).

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { McpServer, McpTool } from '../../shared/agents/agents.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { connectionTo } from '../../shared/tools/mcp/connection.ts'
import { startMcpCall } from '../../shared/tools/mcp/mcp.ts'
import { median, medianRatio } from './kafka-figures.ts'
import type { Row } from './row.ts'

const root = join(import.meta.dirname, '..', '..')
const server = join(root, 'test', 'support', 'mcp', 'everything.ts')
const argv: [string, ...string[]] = [
  ...[process.execPath, '--disable-warning=ExperimentalWarning', server],
] as [string, ...string[]]
// A turn has at most 1000 rounds.
const [warm, calls, lists] = [100, 800, 50]
/** Judged as always, but a thousand calls of one turn are no loop here. */
const patient = `name: bench
guest: true
loop: { identicalFailures: 1000, identicalSuccesses: 1000, cycleLaps: 1000, schemaFailures: 1000 }
`
let asked = 0
const values = () => {
  asked += 1
  return { n: asked }
}

export async function benchMcp(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-mcp-'))
  const direct = await host(argv[0], argv.slice(1), folder)
  await mkdir(join(folder, 'agents'))
  await writeFile(join(folder, 'agents', 'bench.yaml'), patient)
  const weir = ['WEIR_AGENTS=agents', join(root, 'bin', 'weir')]
  const gateway = await host('env', [...weir, 'mcp', '--agent', 'bench', '--', ...argv], folder)
  const own: McpServer = {
    name: 'bench',
    run: { kind: 'command', argv },
    isTrusted: false,
    timeoutMs: 60_000,
    wallMs: 60_000,
  }
  try {
    const run: McpTool = { kind: 'mcp', server: own, tool: 'tool.1' }
    await connectionTo(own).tools()
    await direct.listTools()
    const bySdk = () => direct.callTool({ name: 'tool.1', arguments: values() })
    /** As each caller does that shows progress and can cancel. */
    const withOptions = () =>
      direct.callTool(
        { name: 'tool.1', arguments: values() },
        { onprogress() {}, signal: new AbortController().signal },
      )
    const byWeir = () =>
      startMcpCall(run, {
        arguments: JSON.stringify(values()),
        idempotencyKey: 'bench',
        clock: systemClock,
        timeoutMs: 60_000,
        graceMs: 0,
      }).ended
    const through = async () => {
      const { isError, content } = await gateway.callTool({
        name: `tool.${asked % 200}`,
        arguments: values(),
      })
      if (isError === true) throw new Error(`the gateway refused a call: ${text(content)}`)
    }
    await measured([bySdk, byWeir], calls) // until both are compiled
    const client = await measured([bySdk, byWeir], calls)
    const fullClient = await measured([withOptions, byWeir], calls)
    const passed = await measured([bySdk, through], calls)
    const list = (client: Client) => () => client.listTools(undefined, { cacheMode: 'refresh' })
    const listed = await measured([list(direct), list(gateway)], lists)
    return [
      row('a call by Weir, p50 (goal <= 1.1 x)', client, 'the SDK alone'),
      row('the same, p50', fullClient, 'the SDK with progress and cancel'),
      row('a call through the gateway, p50', passed, 'direct'),
      {
        name: 'MCP: added to a call by the gateway, p50 (goal <= 2.5)',
        unit: 'ms',
        value: median(passed.own) - median(passed.baseline),
      },
      row('a list of 208 tools through the gateway, p50 (goal <= 20)', listed, 'direct'),
    ]
  } finally {
    await direct.close()
    await gateway.close()
    await connectionTo(own).close()
    await rm(folder, { recursive: true, force: true })
  }
}

const text = (content: unknown) => JSON.stringify(content).slice(0, 500)

async function host(command: string, args: string[], cwd: string): Promise<Client> {
  const client = new Client(
    { name: 'bench', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  const env = { PATH: process.env.PATH ?? '' }
  await client.connect(new StdioClientTransport({ command, args, cwd, env, stderr: 'ignore' }))
  return client
}

type Times = { baseline: number[]; own: number[] }

/** Calls of a task follow one another. The first one of a block waits for a server that sleeps. */
const block = 10

/** The two take turns. */
async function measured(
  [first, second]: [() => Promise<unknown>, () => Promise<unknown>],
  count: number,
): Promise<Times> {
  const times: Times = { baseline: [], own: [] }
  for (let n = -warm; n < count; n += block)
    for (const [run, all] of [
      [first, times.baseline],
      [second, times.own],
    ] as const)
      for (let i = 0; i < block; i += 1) {
        const began = performance.now()
        await run()
        if (n >= 0) all.push(performance.now() - began)
      }
  return times
}

function row(name: string, { own, baseline }: Times, baselineName: string): Row {
  return {
    name: `MCP: ${name}`,
    value: median(own),
    unit: 'ms',
    baseline: baselineName,
    ratio: medianRatio(own, baseline),
  }
}

if (import.meta.main) console.table(await benchMcp())
