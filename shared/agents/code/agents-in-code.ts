// The agents of a program, checked like those of files: by the same schema and the same readers.
// The same content gives the same value.
// All mistakes of all agents are reported at once, with the path into the list.

import { resolve } from 'node:path'
import { cannotUse, inCode, type Mistake, type Path, shown } from '../../settings/mistake.ts'
import type { Agent, Agents, Model } from '../agents.ts'
import type { AgentContent, ToolCode, ToolContent } from '../file/content.ts'
import { agentOf } from '../file/parts/agent-part.ts'
import { schemaMistakes } from '../file/schema-mistakes.ts'
import type { KnownRecords, LoadOptions, Source } from '../file/source.ts'
import { summariserMistake } from '../summariser.ts'
import { codeValidator } from './code-schema.ts'

/**
 * `content`: plain data, in which a function is `true` and the parameters are a JSON Schema.
 * `fetch`: that of its model. `codes`: the other parts of its tools, by index. `mistakes`: those that
 * the data cannot show.
 */
export type WrittenAgent = {
  content: unknown
  fetch?: Model['fetch']
  codes: readonly ToolCode[]
  mistakes: readonly { path: Path; text: string }[]
}

/** Throws `agent.invalid` with every mistake. */
export function agentsInCode<Provider extends string>(
  written: readonly WrittenAgent[],
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords<Provider>,
): Agents<Provider> {
  const mistakes: Mistake[] = []
  const agents = new Map<string, Agent<Provider>>()
  const made: { agent: Agent<Provider>; refuse: Source['refuse'] }[] = []
  for (const [index, one] of written.entries()) {
    const refuse = (path: Path, text: string) =>
      mistakes.push({ ...inCode, path: ['agents', index, ...path], text })
    const agent = read(one, refuse, { environment, ...options, ...known })
    if (agents.has(agent.name) && agent.name !== '')
      refuse(
        ['name'],
        `is ${shown(agent.name)}, the name of another agent already; give it another`,
      )
    agents.set(agent.name, agent)
    made.push({ agent, refuse })
  }
  for (const { agent, refuse } of made) {
    const mistake = summariserMistake(agent, [...agents.keys()])
    if (mistake !== undefined) refuse(['history', 'summarise'], mistake)
  }
  if (mistakes.length > 0) throw cannotUse(mistakes)
  return agents
}

type Options<Provider extends string> = LoadOptions &
  KnownRecords<Provider> &
  Pick<Source, 'environment'>

function read<Provider extends string>(
  { content, fetch, codes, mistakes }: WrittenAgent,
  refuse: Source['refuse'],
  options: Options<Provider>,
): Agent<Provider> {
  for (const { path, text } of mistakes) refuse(path, text)
  const checked = schemaMistakes(content, codeValidator())
  const known = mistakes.map(({ path }) => path.join())
  for (const { path, text } of checked.mistakes)
    if (!known.includes(path.join())) refuse(path, text)
  const { requireIsolation, ...agent } = checked.content as CodeContent
  const source: Source<Provider> = {
    ...options,
    file: '',
    folder: resolve('.'),
    isCode: true,
    refuse: (path, text) => refuse(codePath(path), text),
    report: () => {}, // no other file can have mistakes
  }
  const tools = agent.tools?.map((tool, index) => tool && toolContent(tool, codes[index]))
  for (const [index, code] of codes.entries())
    if (requireIsolation === true && runsHere(code))
      refuse(
        ['tools', index],
        'runs in this process, and requireIsolation is set; must have isolated: true, module, command or http',
      )
  for (const [index, tool] of agent.tools?.entries() ?? [])
    for (const key of ['cwd', 'environment', 'sandbox'] as const)
      if (tool?.run === true && tool.isolated === false && tool[key] !== undefined)
        refuse(['tools', index, key], 'goes with isolated: true, command or module only; remove it')
  const made = agentOf(source, { ...agent, ...(tools && { tools }) })
  return fetch === undefined ? made : { ...made, model: { ...made.model, fetch } }
}

/** The readers know the schema of a tool under its key in files. */
function codePath(path: Path): Path {
  return path[0] === 'tools' && path[2] === 'schema' ? path.with(2, 'parameters') : path
}

/** An agent as a tool runs nothing in this process but its own tools, which its agent judges. */
function runsHere({ run, runsAgent, isolatedIn }: ToolCode): boolean {
  return run !== undefined && runsAgent === undefined && isolatedIn === undefined
}

type CodeContent = Omit<AgentContent, 'tools'> & {
  requireIsolation?: boolean
  tools?: (CodeTool | undefined)[]
}

type CodeTool = ToolContent & {
  parameters?: Record<string, unknown>
  run?: true
  isolated?: boolean
  needsContext?: boolean
}

function toolContent(tool: CodeTool, code: ToolCode | undefined): ToolContent {
  const { parameters, run, isolated, needsContext, ...content } = tool
  return { ...content, ...(parameters && { schema: parameters }), ...(code && { code }) }
}
