// The tools of an agent file: their declarations for the model, and their commands on this machine.
// This folder reads a file's parts to plain values, each with its mistakes. Not here: the schema of
// the file (../agent.schema.json), and any start.

import { extname } from 'node:path'
import { limits } from '../../../contract/limits.ts'
import type { Declaration } from '../../../contract/messages.ts'
import { alternatives, type Path, shown } from '../../../settings/mistake.ts'
import { agentTimeoutMs, agentWallMs, taskSchema, unboundAgentTool } from '../../agent-tool.ts'
import type { FunctionTool, HttpTool, ModuleTool, Tool, ToolRun } from '../../agents.ts'
import type { SandboxSetting } from '../../sandbox.ts'
import { writtenSecrets } from '../../secrets.ts'
import type { HttpContent, SandboxContent, ToolCode, ToolContent } from '../content.ts'
import { exists, needs, referred, type Source } from '../source.ts'
import { hintsOf } from '../tool-hints.ts'
import { schemaOf } from '../tool-schema.ts'
import { urlOf } from '../url.ts'
import { commandOf, type Surroundings, visibleOf } from './command-part.ts'
import { headersOf } from './headers-part.ts'
import { sandboxOf } from './sandbox-part.ts'

/** The defaults of a tool. agent.schema.json has the same ones. */
export const toolDefaults = { idempotent: false, timeoutMs: 30_000, poll: false }

/** `sandbox`: of the tools that set none. */
export function toolsOf(
  source: Source,
  contents: (ToolContent | undefined)[],
  sandbox: SandboxContent | undefined,
): Tool[] {
  refuseSameNames(source, contents)
  const ofAgent = needs(source, 'tools') ? sandboxOf(source, ['sandbox'], sandbox) : undefined
  const tools = contents.flatMap((content, index) =>
    content === undefined ? [] : [toolOf(source, ['tools', index], content, ofAgent)],
  )
  const bytes = tools.reduce(
    (sum, { declaration }) => sum + Buffer.byteLength(JSON.stringify(declaration)),
    0,
  )
  if (bytes > limits.agentDeclarationsBytesMax) {
    const most = `at most ${limits.agentDeclarationsBytesMax}, because each user's message carries them`
    source.refuse(
      ['tools'],
      `declare ${bytes} bytes of names, descriptions and schemas; must be ${most}`,
    )
  }
  return tools
}

function refuseSameNames(source: Source, contents: (ToolContent | undefined)[]): void {
  const first = new Map<string, number>()
  for (const [index, content] of contents.entries()) {
    if (content?.name === undefined) continue
    const other = first.get(content.name)
    if (other === undefined) first.set(content.name, index)
    else
      source.refuse(
        ['tools', index, 'name'],
        `is ${shown(content.name)}, the name of tools[${other}] already; give it another`,
      )
  }
}

function toolOf(
  source: Source,
  path: Path,
  content: ToolContent,
  sandbox: SandboxSetting | undefined,
): Tool {
  const defaults = content.agent === undefined ? toolDefaults : agentDefaults(source, path, content)
  const { name = '', description = '', idempotent, timeoutMs, poll } = { ...defaults, ...content }
  const schema =
    content.agent === undefined ? schemaOf(source, path, content) : JSON.stringify(taskSchema)
  const hints = hintsOf(source, path, content, schema)
  const declaration: Declaration = { name, description, schema, idempotent, timeoutMs, poll, hints }
  const { check, needsContext } = content.code ?? {}
  const tool = {
    declaration,
    run: needs(source, 'tools') ? runIn(source, path, content, sandbox) : runElsewhere,
    ...(check && { check }),
    ...(needsContext && { needsContext }),
  }
  const { concurrency, traceparent = false } = content
  if (traceparent && content.command === undefined && content.http === undefined)
    source.refuse(
      [...path, 'traceparent'],
      'is true, but only a tool with command or http can get it; remove it',
    )
  if (concurrency !== undefined && content.client)
    source.refuse([...path, 'concurrency'], 'has no effect on a tool with client; remove it')
  return {
    ...tool,
    ...(concurrency !== undefined && { concurrency }),
    ...(traceparent && { traceparent }),
  }
}

/** The fields that follow from the agent. */
function agentDefaults(source: Source, path: Path, content: ToolContent): typeof toolDefaults {
  for (const key of ['idempotent', 'timeoutMs'] as const)
    if (content[key] !== undefined)
      source.refuse([...path, key], 'follows from the agent; remove it')
  return { ...toolDefaults, idempotent: true, timeoutMs: agentTimeoutMs(agentWallMs) }
}

function runIn(
  source: Source,
  path: Path,
  content: ToolContent,
  ofAgent: SandboxSetting | undefined,
): ToolRun {
  const run = runOf(source, path, content)
  if (run.kind !== 'command' && run.kind !== 'module') return run
  const sandbox = sandboxOf(source, [...path, 'sandbox'], content.sandbox) ?? ofAgent
  return sandbox === undefined ? run : { ...run, sandbox }
}

const runElsewhere: ToolRun = { kind: 'command', argv: [''] }

/** The schema refuses several kinds, or none. Each kind that is there is checked all the same. */
function runOf(
  source: Source,
  path: Path,
  { command, http, module, agent, code, client, ...rest }: ToolContent,
): ToolRun {
  const runs = [
    code?.run && functionOf(source, path, { ...code, run: code.run }, rest),
    command && commandOf(source, path, command, rest),
    http && httpOf(source, [...path, 'http'], http),
    module === undefined ? undefined : moduleOf(source, path, module, rest),
    agent === undefined ? undefined : unboundAgentTool(agent),
    client && ({ kind: 'client' } as const),
  ]
  return runs.find((run) => run !== undefined) ?? { kind: 'command', argv: [''] }
}

// ── function ──

function functionOf(
  source: Source,
  path: Path,
  { run, runsAgent, cancelAgent, isolatedIn }: ToolCode & Pick<FunctionTool, 'run'>,
  surroundings: Surroundings & Pick<ToolContent, 'name'>,
): FunctionTool | ModuleTool {
  const { name, outputBytesMax } = surroundings
  const bytesMax = outputBytesMax === undefined ? {} : { outputBytesMax }
  const ofAgent = runsAgent !== undefined && { runsAgent, ...(cancelAgent && { cancelAgent }) }
  if (isolatedIn === undefined) return { kind: 'function', run, ...ofAgent, ...bytesMax }
  const entry = { kind: 'defined' as const, name: name ?? '' }
  return { ...moduleOf(source, path, isolatedIn, surroundings), entry }
}

// ── http ──

function httpOf(
  source: Source,
  path: Path,
  { url, headers = {}, outputBytesMax }: HttpContent,
): HttpTool {
  const secrets: string[] = []
  const sent = headersOf(source, [...path, 'headers'], headers, secrets)
  const sentTo = {
    url: (url === undefined ? undefined : urlOf(source, [...path, 'url'], url, secrets)) ?? '',
    headers: sent,
  }
  return {
    kind: 'http',
    ...sentTo,
    secrets: source.isCode ? writtenSecrets(sentTo) : [...new Set(secrets)],
    ...(outputBytesMax === undefined ? {} : { outputBytesMax }),
  }
}

// ── module ──

const moduleEndings = ['.ts', '.mts', '.js', '.mjs']

/** Only the executor checks its exports, because importing the module would run it. */
function moduleOf(
  source: Source,
  path: Path,
  text: string,
  {
    cwd,
    environment,
    outputBytesMax,
    export: exported,
  }: Surroundings & Pick<ToolContent, 'export'>,
): ModuleTool {
  const at = [...path, 'module']
  const folder = cwd === undefined ? undefined : referred(source, [...path, 'cwd'], cwd)
  if (folder !== undefined) exists(source, [...path, 'cwd'], folder, 'folder')
  const file = referred(source, at, text)
  if (file !== undefined && !moduleEndings.includes(extname(file.path)))
    source.refuse(
      at,
      `is ${shown(text)}; must be a file that ends in ${alternatives(moduleEndings)}`,
    )
  else if (file !== undefined) exists(source, at, file, 'file')
  return {
    kind: 'module',
    file: file?.path ?? '',
    ...(exported === undefined ? {} : { entry: { kind: 'export' as const, name: exported } }),
    ...(folder === undefined ? {} : { cwd: folder.path }),
    ...visibleOf(source, [...path, 'environment'], environment),
    ...(outputBytesMax === undefined ? {} : { outputBytesMax }),
  }
}
