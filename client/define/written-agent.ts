// A defined agent as plain data and code apart, so it can be checked by the schema of agent files.
// Hostile or careless input: any value, from a program without types.

import { fileURLToPath } from 'node:url'
import type { FunctionTool, Model, ValueCheck } from '../../shared/agents/agents.ts'
import type { WrittenAgent } from '../../shared/agents/code/agents-in-code.ts'
import type { ToolCode } from '../../shared/agents/file/content.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { type Path, shown } from '../../shared/settings/mistake.ts'
import type { RunsCalls } from '../agents/agent-calls.ts'
import { agentTurnOf } from './agent-tool.ts'
import { definedOf } from './define-tool.ts'
import { checkBy, isStandardSchema, jsonSchemaOf, objectOfSchemas } from './standard-schema.ts'

/** `calls`: runs the tools that are agents. */
export function writtenAgent(agent: unknown, calls: RunsCalls): WrittenAgent {
  const mistakes: { path: Path; text: string }[] = []
  const refuse = (path: Path, text: string) => void mistakes.push({ path, text })
  if (!isObject(agent)) return { content: plain(agent, [], refuse), codes: [], mistakes }
  const { tools, model, ...others } = agent
  const { data, fetch } = writtenModel(model, refuse)
  const content = plainMembers({ ...withSummariser(others), model: data }, [], refuse)
  const sends = fetch && { fetch }
  if (!Array.isArray(tools)) {
    if (tools !== undefined) content.tools = plain(tools, ['tools'], refuse)
    return { content, ...sends, codes: [], mistakes }
  }
  const written = tools.map((tool, index) => {
    const { data, code } = writtenTool(tool, ['tools', index], refuse)
    return { data, code: { ...code, ...agentCode(tool, String(agent.name), calls) } }
  })
  content.tools = written.map(({ data }) => data)
  return { content, ...sends, codes: written.map(({ code }) => code), mistakes }
}

/** A model without its `fetch`, and that. */
function writtenModel(model: unknown, refuse: Refuse): { data: unknown; fetch?: Model['fetch'] } {
  if (isObject(model) && model.apiKey === '')
    refuse(['model', 'apiKey'], 'is empty; must be a key. Leave it out for a server without keys')
  if (!isObject(model) || model.fetch === undefined) return { data: model }
  const { fetch, ...data } = model
  if (typeof fetch === 'function') return { data, fetch: fetch as Model['fetch'] }
  refuse(['model', 'fetch'], `is ${shown(fetch)}; must be a function`)
  return { data }
}

/** The agent that summarises, by its name. */
function withSummariser(agent: Record<string, unknown>): Record<string, unknown> {
  const summariser = summariserOf(agent)
  if (summariser === undefined || !isObject(agent.history)) return agent
  return { ...agent, history: { ...agent.history, summarise: summariser.name } }
}

function summariserOf({ history }: Record<string, unknown>): Record<string, unknown> | undefined {
  const summarise = isObject(history) ? history.summarise : undefined
  return isObject(summarise) ? summarise : undefined
}

function agentCode(tool: unknown, caller: string, calls: RunsCalls): ToolCode {
  const turn = isObject(tool) ? agentTurnOf(tool) : undefined
  if (turn === undefined) return {}
  return {
    run: (args, call) => calls.run(turn, caller, args, call),
    runsAgent: turn.agent.name,
    cancelAgent: calls.cancel,
  }
}

/** These agents, those that are tools of them and those that summarise for them, each once. */
export function withAgentsOfTools(agents: readonly unknown[]): unknown[] {
  const all = new Set<unknown>(agents)
  for (const agent of all) {
    const summariser = isObject(agent) ? summariserOf(agent) : undefined
    if (summariser !== undefined) all.add(summariser)
    const tools: unknown = isObject(agent) ? agent.tools : undefined
    for (const tool of Array.isArray(tools) ? tools : []) {
      const turn = isObject(tool) ? agentTurnOf(tool) : undefined
      if (turn !== undefined) all.add(turn.agent)
    }
  }
  return [...all]
}

type Refuse = (path: Path, text: string) => void

function writtenTool(tool: unknown, path: Path, refuse: Refuse): { data: unknown; code: ToolCode } {
  if (!isObject(tool)) return { data: plain(tool, path, refuse), code: {} }
  const { parameters, run, needsContext, module, ...rest } = tool
  const data = plainMembers(rest, path, refuse)
  const code: ToolCode = {}
  if (parameters !== undefined)
    data.parameters = parametersOf(parameters, [...path, 'parameters'], refuse)
  if (isStandardSchema(parameters)) code.check = checkBy(parameters)
  if (needsContext !== undefined)
    data.needsContext = isStandardSchema(needsContext)
      ? true
      : plain(needsContext, [...path, 'needsContext'], refuse)
  if (needsContext === true) code.needsContext = anyContext
  if (isStandardSchema(needsContext)) code.needsContext = checkBy(needsContext)
  if (module !== undefined) data.module = fileOf(module, [...path, 'module'], refuse)
  if (typeof run === 'function') {
    data.run = true
    code.run = run as FunctionTool['run']
    const isolatedIn = rest.isolated === true ? isolatedFile(tool, path, refuse) : undefined
    if (isolatedIn !== undefined) code.isolatedIn = isolatedIn
  } else if (run !== undefined) data.run = plain(run, [...path, 'run'], refuse)
  return { data, code }
}

const anyContext: ValueCheck = (value) =>
  value === undefined ? { problems: ['it is undefined'] } : { value }

function parametersOf(parameters: unknown, path: Path, refuse: Refuse): unknown {
  if (!isStandardSchema(parameters)) {
    const slip = isObject(parameters) ? objectOfSchemas(parameters) : undefined
    if (slip === undefined) return plain(parameters, path, refuse)
    refuse(path, slip)
    return { type: 'object' }
  }
  const schema = jsonSchemaOf(parameters)
  if (typeof schema === 'object') return plain(schema, path, refuse)
  refuse(path, schema)
  return { type: 'object' }
}

function fileOf(file: unknown, path: Path, refuse: Refuse): unknown {
  const text = file instanceof URL ? file.href : file
  if (typeof text !== 'string' || !text.startsWith('file:')) return plain(text, path, refuse)
  try {
    return fileURLToPath(text)
  } catch {
    refuse(path, 'is no URL of a file of this machine')
    return undefined
  }
}

function isolatedFile(tool: object, path: Path, refuse: Refuse): string | undefined {
  const file = definedOf(tool)?.file
  const found = file === undefined ? undefined : fileOf(file, [...path, 'isolated'], refuse)
  if (typeof found === 'string') return found
  refuse(
    [...path, 'isolated'],
    'needs a tool of defineTool, which knows its file; use defineTool, or module',
  )
  return undefined
}

const depthMax = 100

/** The value as JSON could hold it. Without members that are undefined, as TypeScript writes them. */
function plain(value: unknown, path: Path, refuse: Refuse, depth = 0): unknown {
  if (depth > depthMax) {
    refuse(path, `is nested deeper than ${depthMax} levels`)
    return undefined
  }
  if (value instanceof URL) return value.href
  if (Array.isArray(value))
    return value.map((item, index) => plain(item, [...path, index], refuse, depth + 1))
  if (isObject(value)) return plainMembers(value, path, refuse, depth)
  const isData = value === null || ['string', 'boolean'].includes(typeof value)
  if (isData || (typeof value === 'number' && Number.isFinite(value))) return value
  refuse(
    path,
    `is ${typeof value === 'number' ? value : `a ${typeof value}`}; must be data that JSON can hold`,
  )
  return undefined
}

function plainMembers(
  value: Record<string, unknown>,
  path: Path,
  refuse: Refuse,
  depth = 0,
): Record<string, unknown> {
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.map(([key, member]) => [key, plain(member, [...path, key], refuse, depth + 1)]),
  )
}
