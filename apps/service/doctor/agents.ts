// Agent files, their keys and their tools: whether each can be started. A module is imported, as for
// its first call. No tool is called.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadAgents } from '../../../client/weir.ts'
import type { Agent, Agents, ModuleTool, Tool } from '../../../shared/agents/agents.ts'
import { unreachable } from '../../../shared/contract/stage.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { startModuleProcess } from '../../../shared/tools/module/module-process.ts'
import { count } from '../../terminal/text/quantities.ts'
import { type Check, mistakesIn, ok, skipped, warning, wrong } from './check.ts'

const loadMsMax = 10_000
const defaultFile = 'agent.yaml'

export type AgentsFound = { agents: Agents; checks: Check[] }

/** `path`: an agent file or a folder. Default: agent.yaml, if it is in the working folder. */
export function agentChecks(
  path: string | undefined,
  folder: string,
  environment: NodeJS.ProcessEnv,
): AgentsFound {
  const none = new Map<string, Agent>()
  if (path === undefined && !existsSync(join(folder, defaultFile)))
    return {
      agents: none,
      checks: [
        warning(
          'agent',
          `none was named, and there is no ${defaultFile} here`,
          'name one: --agent FILE; weir init makes one',
        ),
      ],
    }
  try {
    const agents = loadAgents(path ?? defaultFile, environment)
    return {
      agents,
      checks: [...agents.values()].flatMap((agent) => [
        agentCheck(agent),
        keyCheck(agent),
        ...endMarkChecks(agent),
      ]),
    }
  } catch (error) {
    const nameOf = (mistake: string) => (/ model\.apiKey: /.test(mistake) ? 'key' : 'agent')
    const checks = mistakesIn(error, 'agent.invalid', nameOf)
    return {
      agents: none,
      checks: [...checks, skipped('tools', 'not checked until the agent files are right')],
    }
  }
}

function agentCheck({ name, model, tools, mcp = [] }: Agent): Check {
  const further = mcp.length === 0 ? '' : ` and those of ${count(mcp.length, 'MCP server')}`
  return ok(
    'agent',
    `${name}: ${model.name} by ${model.provider}, ${count(tools.length, 'tool')}${further}`,
  )
}

/** A missing key is a mistake of the agent file. */
function keyCheck({ name, model }: Agent): Check {
  return ok(
    'key',
    model.apiKey === '' ? `${name}: no key is sent to its own server` : `${name}: it is set`,
  )
}

/** Without an end, an answer whose last call is missing looks whole. */
function endMarkChecks({ name, model }: Agent): Check[] {
  if (model.endMark === undefined) return []
  return [
    warning(
      'end mark',
      `${name}: its server ends no answer that has calls (model.endMark: missing)`,
      'remove the setting as soon as the server sends a finish reason',
    ),
  ]
}

export async function toolChecks(agents: Agents): Promise<Check[]> {
  const checks: Check[] = []
  for (const { name, tools } of agents.values())
    for (const tool of tools) checks.push(await toolCheck(`${name}/${tool.declaration.name}`, tool))
  return checks
}

async function toolCheck(tool: string, { run }: Tool): Promise<Check> {
  const name = 'tool'
  switch (run.kind) {
    case 'command':
      return ok(name, `${tool}: ${run.argv[0]} can be executed`) // loadAgents checked it
    case 'http':
      return ok(
        name,
        `${tool}: ${URL.parse(run.url)?.host ?? 'a server'}; --online checks whether it can be reached`,
      )
    case 'mcp':
      return ok(name, `${tool}: the MCP server ${run.server.name} has it`)
    case 'function':
      return ok(
        name,
        `${tool}: ${run.runsAgent === undefined ? 'it runs in this process' : `the agent ${run.runsAgent}`}`,
      )
    case 'client':
      return ok(name, `${tool}: clients run it`)
    case 'module': {
      const fault = await importFault(run)
      if (fault === undefined) return ok(name, `${tool}: its module can be imported`)
      return wrong(name, `${tool}: ${run.file} cannot be imported: ${fault}`, 'correct the module')
    }
    default:
      return unreachable(run)
  }
}

/** Imports the module in its own process, as a call would. Undefined: it exports a function. */
async function importFault(run: ModuleTool): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const process = startModuleProcess(run, systemClock, {
    answered(answer) {
      resolve(answer.type === 'not-loaded' ? firstLineOf(answer.stack) : undefined)
    },
    gone: (how) =>
      resolve(
        how.kind === 'not-started'
          ? `no process could be started (${how.code})`
          : 'its process ended while it was imported',
      ),
  })
  const cancelTimer = systemClock.after(loadMsMax, () =>
    resolve(`it took more than ${loadMsMax / 1000} s`),
  )
  try {
    return await promise
  } finally {
    cancelTimer()
    process.kill()
  }
}

function firstLineOf(stack: string): string {
  return (stack.split('\n')[0] ?? '').replace(/^Error: /, '')
}
