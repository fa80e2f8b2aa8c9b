// Sandboxes: bubblewrap on this machine, the bounds that hold there, and the tools without one.

import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Agent, Agents, CommandTool, ModuleTool } from '../../../shared/agents/agents.ts'
import { type Backend, type Found, sandboxBackend } from '../../../shared/lib/sandbox/backend.ts'
import { agentFileIn, isProgramFolder, ownPaths } from '../../../shared/lib/sandbox/own-paths.ts'
import { hasProcessCap } from '../../../shared/lib/sandbox/process-cap.ts'
import { sandboxed } from '../../../shared/tools/sandbox/sandboxed.ts'
import { type Check, ok, warning, wrong } from './check.ts'
import { nestedCredentials } from './nested-credentials.ts'

const name = 'sandbox'

type Program = CommandTool | ModuleTool
type Named = { tool: string; run: Program }

/** The machine first, then each agent with command or module tools. */
export function sandboxChecks(agents: Agents, found: Found = sandboxBackend()): Check[] {
  const programs = [...agents.values()].map((agent) => ({ agent, tools: programsOf(agent) }))
  const isNeeded = programs.some(({ tools }) => tools.some(({ run }) => hasSandbox(run)))
  return [
    'missing' in found ? missingCheck(found.missing, isNeeded) : backendCheck(found.backend),
    ...programs.flatMap(({ agent, tools }) => agentChecks(agent, tools, found)),
  ]
}

function programsOf({ tools }: Agent): Named[] {
  return tools.flatMap(({ declaration, run }) =>
    run.kind !== 'command' && run.kind !== 'module' ? [] : [{ tool: declaration.name, run }],
  )
}

function hasSandbox({ sandbox }: Program): boolean {
  return sandbox !== undefined && sandbox !== 'off'
}

function missingCheck(missing: string, isNeeded: boolean): Check {
  const remedy = `${missing}, or write sandbox: off`
  if (isNeeded)
    return wrong(name, 'this machine can make none, so calls of some tools do not start', remedy)
  return warning(name, 'this machine can make none', remedy)
}

/** The features that are missing in some containers, and the bounds that hold. */
export function backendCheck(
  backend: Backend,
  { isRoot = process.getuid?.() === 0, hasCap = hasProcessCap() } = {},
): Check {
  const version = `bubblewrap ${backend.version}`
  const lacking: string[] = []
  if (!backend.hasProc) lacking.push('tools see no /proc (a container hides parts of its own)')
  if (!backend.closesUserNamespaces) lacking.push('tools can make user namespaces')
  if (isRoot && !hasCap) lacking.push('processes of root are only watched, so a fork bomb can win')
  const bounds =
    'it bounds the processes of a call, their CPU time and, by watching them, their memory'
  if (lacking.length === 0) return ok(name, `${version} works: ${bounds}`)
  const remedy =
    isRoot && !hasCap
      ? 'run Weir as another user'
      : 'see docs/guard/sandbox.md for the permissions of a container'
  return warning(name, `${version} works (${bounds}), but ${lacking.join(', and ')}`, remedy)
}

function agentChecks({ name: agent }: Agent, tools: Named[], found: Found): Check[] {
  const without = tools.filter(({ run }) => run.sandbox === undefined).map(({ tool }) => tool)
  const boxed = tools.filter(({ run }) => hasSandbox(run))
  const unset =
    without.length === 0
      ? []
      : [
          warning(
            name,
            `${agent}: ${without.join(', ')} can do all that this user can`,
            'write sandbox: default, or sandbox: off, in the agent file',
          ),
        ]
  const checks = 'missing' in found ? [] : boxed.flatMap((one) => boxedChecks(agent, one))
  return [...unset, ...checks]
}

function boxedChecks(agent: string, { tool, run }: Named): Check[] {
  try {
    sandboxed(run, { argv: ['true'], statusFd: 3 })
  } catch (error) {
    return [wrong(name, `${agent}/${tool}: ${(error as Error).message}`, 'correct sandbox')]
  }
  return [placeCheck(agent, { tool, run }), ...credentialChecks(agent, { tool, run })]
}

/** The files of credentials that the tool sees, because they are deep in its folders. */
function credentialChecks(agent: string, { tool, run }: Named): Check[] {
  const { read = [], write = [] } = typeof run.sandbox === 'object' ? run.sandbox : {}
  const listed = [...read, ...write].map((path) => resolve(path))
  const isHidden = (path: string) => ownPaths().get(path) === 'hidden' || listed.includes(path)
  const found = nestedCredentials([resolve(run.cwd ?? '.'), ...listed], isHidden)
  if (found.length === 0) return []
  return [
    warning(
      name,
      `${agent}/${tool}: it can read ${found.join(', ')}`,
      'list only the folders that it needs, or move the credentials out of them',
    ),
  ]
}

function placeCheck(agent: string, { tool, run }: Named): Check {
  const cwd = resolve(run.cwd ?? '.')
  const isOurs = [...ownPaths()].some(([path, how]) => how === 'hidden' && dirname(path) === cwd)
  const isReadOnly = typeof run.sandbox === 'object' && run.sandbox.read?.includes(cwd) === true
  const held = heldIn(realpathSync(cwd))
  if (!isReadOnly && held !== undefined)
    return warning(
      name,
      `${agent}/${tool}: its working folder is read-only, because it holds ${held}`,
      'if it writes files, make a folder for them and set cwd: files; otherwise list . in sandbox.read',
    )
  if (!isOurs || isReadOnly) return ok(name, `${agent}/${tool}: its sandbox can be made`)
  return warning(
    name,
    `${agent}/${tool}: its working folder is the folder of the data folder or of files that Weir hides, so it can add files there`,
    'set cwd to a folder of its own, or list the folder in sandbox.read',
  )
}

/** The reason why a working folder is read-only. `cwd`: absolute and real. */
function heldIn(cwd: string): string | undefined {
  if (agentFileIn(cwd) !== undefined) return 'the agent file'
  return isProgramFolder(cwd) ? 'the program of a tool' : undefined
}
