// Programs of other makers as hosts and servers of `weir mcp`: the inspector of MCP, and the Python SDK.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { call, says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../client/weir.ts'
import {
  type Era,
  gatewayOverHttp,
  hostOnPipe,
  serverCommand,
  textOf,
} from '../support/mcp/gateway.ts'
import { weirCommand } from '../support/programs.ts'
import type { Result } from './cases/case.ts'
import { openHostFolder } from './host-run.ts'
import { inspector, installed, mcpPackages } from './installed-hosts.ts'
import { startModelServer } from './model-server.ts'
import { startProgram } from './programs/program.ts'
import { claudeCode } from './programs/terminal-agents.ts'

/** `url`: of the gateway over HTTP. Undefined: it is over a pipe. */
type Place = { folder: string; url: string | undefined }

async function within(isHttp: boolean, run: (place: Place) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-hosts-mcp-'))
  const [command, ...args] = serverCommand
  await writeFile(
    join(folder, 'servers.json'),
    JSON.stringify({ mcpServers: { test: { command, args } } }),
  )
  const behind = ['--servers', 'servers.json', '--log-level', 'error']
  const gateway = isHttp ? await gatewayOverHttp({ folder, behind }) : undefined
  try {
    return await run({ folder, url: gateway && `${gateway.url}/mcp/coder/one` })
  } finally {
    await gateway?.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const gatewayCommand = [weirCommand, 'mcp', '--servers', 'servers.json', '--log-level', 'error']

async function outputOf(program: string, args: string[], folder: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  return (await promisify(execFile)(program, args, { cwd: folder, env })).stdout
}

/** Each run of the inspector is one request of one host. */
export function inspectorRun(isHttp: boolean): Promise<Result> {
  return within(isHttp, async ({ folder, url }) => {
    const program = await installed(inspector)
    const target = url === undefined ? gatewayCommand : [url, '--transport', 'http']
    const run = async (...args: string[]) =>
      JSON.parse(
        await outputOf(process.execPath, [program, '--cli', ...target, ...args], folder),
      ) as { tools?: unknown[]; content?: { text?: string }[]; isError?: boolean }
    const call = ['--method', 'tools/call', '--tool-name', 'test__weather']
    const { tools = [] } = await run('--method', 'tools/list')
    const good = await run(...call, '--tool-arg', 'city=Rome')
    const isRight = tools.length > 0 && good.content?.[0]?.text === '18 °C in Rome'
    return {
      found: `${tools.length} tools, a result`,
      fault: isRight ? undefined : JSON.stringify(good),
    }
  })
}

/** Claude Code with a model that calls a tool of the server without its argument, again and again. */
export function claudeRun(isHttp: boolean): Promise<Result> {
  return within(isHttp, async ({ folder: servers, url }) => {
    const model = await startModelServer(({ body }, number) => {
      const isTold = JSON.stringify(body).includes('LOOP DETECTED')
      if (isTold || number > callsMax) return { text: 'I stop here.' }
      // It shows the tools of servers by name only, until the model asks for one.
      const query = JSON.stringify({ query: `select:${tool}` })
      const name = number === 1 ? 'ToolSearch' : tool
      return { calls: [{ name, input: number === 1 ? query : '{}' }] }
    })
    const folder = await openHostFolder()
    try {
      const [command, ...args] = gatewayCommand.map((word) =>
        word === 'servers.json' ? join(servers, word) : word,
      )
      const weir = url === undefined ? { command, args } : { type: 'http', url }
      const config = join(folder.home, 'mcp.json')
      await writeFile(config, JSON.stringify({ mcpServers: { weir } }))
      const more = ['--mcp-config', config, '--strict-mcp-config']
      const run = await startProgram(claudeCode, folder, { url: model.url, more })
      const reply = claudeCode.reply(await run.ended)
      const calls = model.requests.length - 2 // the search, and the last text
      const last = JSON.stringify(model.requests.at(-1)?.body.messages)
      const isRight = calls === 3 && last.includes("'city'") && reply === 'I stop here.'
      return {
        found: `${calls} calls, I1 reported by the third`,
        fault: isRight ? undefined : `${reply} ${last.slice(-2000)}`,
      }
    } finally {
      await folder.close()
      await model.close()
    }
  })
}

const callsMax = 10
const tool = 'mcp__weir__test__weather'

export function pythonClientRun(isHttp: boolean): Promise<Result> {
  return within(isHttp, async ({ folder, url }) => {
    const python = await installed(mcpPackages)
    const script = join(import.meta.dirname, 'python', 'mcp_client.py')
    const target = url === undefined ? gatewayCommand : [url]
    return { found: (await outputOf(python, [script, ...target], folder)).trim() }
  })
}

/** The Python server after `weir mcp`, for a host of each era. */
export function pythonServerRun(): Promise<Result> {
  return within(false, async ({ folder }) => {
    const python = await installed(mcpPackages)
    const behind = ['--', python, join(import.meta.dirname, 'python', 'mcp_server.py')]
    for (const era of ['modern', 'legacy'] satisfies Era[]) {
      const { client } = await hostOnPipe({ era, folder, behind })
      try {
        const sum = await client.callTool({ name: 'add', arguments: { first: 2, second: 3 } })
        const failed = await textOf(client, 'fail')
        const refused = await textOf(client, 'add', { first: 'two' })
        const isRight =
          JSON.stringify(sum.structuredContent) === '{"result":5}' &&
          failed.isError &&
          failed.text.includes('fail') &&
          refused.text.includes("'second'")
        if (!isRight) return { found: era, fault: JSON.stringify({ sum, failed, refused }) }
      } finally {
        await client.close()
      }
    }
    return { found: 'structured content, an error, and a call that breaks its schema' }
  })
}

/** A question of the Python server to a person, in an agent that has the server's tools. */
export function pythonQuestionRun(): Promise<Result> {
  return within(false, async ({ folder }) => {
    const python = await installed(mcpPackages)
    const model = scriptedModel(says(call('python__book', {})), says('Booked.'))
    const command: [string, ...string[]] = [
      python,
      join(import.meta.dirname, 'python', 'mcp_server.py'),
    ]
    const agent = defineAgent({
      name: 'helper',
      model,
      system: 'Help.',
      sandbox: 'off' as const,
      mcp: { python: { command } },
    })
    const weir = await Weir.open({ agents: [agent], dataFolder: join(folder, 'data') })
    try {
      const turn = weir.ask({ agent, text: 'Book a seat.' })
      for await (const event of turn)
        if (event.type === 'approval-pending')
          for (const { id } of event.calls) await weir.allow(id, { values: '{"seat":"aisle"}' })
      const result = model.requests[1]?.results[0] ?? ''
      const isRight = result === "accept {'seat': 'aisle'} for the flight"
      return { found: 'the values of a person', fault: isRight ? undefined : result }
    } finally {
      await weir.close()
    }
  })
}
