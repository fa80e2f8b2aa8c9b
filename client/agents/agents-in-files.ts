// The agents of Weir.open: those of agent files and of a program, with the parts that this process
// uses.

import {
  type ProviderName,
  providers,
} from '../../services/llm-gateway/performer/providers/providers.ts'
import type {
  Agent as AgentOf,
  Agents as AgentsOf,
  Model as ModelOf,
} from '../../shared/agents/agents.ts'
import { agentsInCode } from '../../shared/agents/code/agents-in-code.ts'
import { loadAgents as loadAgentFiles } from '../../shared/agents/file/load-agents.ts'
import type { AgentPart } from '../../shared/agents/file/source.ts'
import { compiledSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import type { DefinedAgent } from '../define/define-agent.ts'
import { withAgentsOfTools, writtenAgent } from '../define/written-agent.ts'
import type { StagesChoice } from '../place/stages-choice.ts'
import { type AgentCalls, createAgentCalls, type RunsCalls, withAgentCalls } from './agent-calls.ts'

/** `provider`: the name of a provider that this version knows. */
export type Model = ModelOf<ProviderName>
export type Agent = AgentOf<ProviderName>
/** By name. */
export type Agents = AgentsOf<ProviderName>

/** Agents of `defineAgent`, or an agent file, a folder of them, or the agents of `loadAgents`. */
export type AgentsOption = readonly DefinedAgent<never>[] | Agents | string

/**
 * The agents of a file or a folder. `environment`: the values of `${NAME}` in them. Throws
 * `agent.invalid` with every mistake.
 */
export function loadAgents(path: string, environment: NodeJS.ProcessEnv = process.env): Agents {
  return agentsInFiles(path, environment)
}

/** The agents of `Weir.open`. */
export function agentsOf(agents: AgentsOption, stages: StagesChoice, calls: AgentCalls): Agents {
  const needs = stages === 'elsewhere' ? [] : undefined
  if (typeof agents === 'string')
    return withAgentCalls(agentsInFiles(agents, process.env, needs), calls)
  if (agents instanceof Map) return withAgentCalls<ProviderName>(agents, calls)
  const isList = Array.isArray(agents)
  // A process that only reads and cancels needs none.
  if (!isList || (agents.length === 0 && stages !== 'elsewhere'))
    throw new WeirError(
      'settings.invalid',
      `agents is ${isList ? 'an empty list' : shown(agents)}; must be a list with an agent of defineAgent, or the path of an agent file or folder`,
    )
  return agentsOfProgram(agents, process.env, needs, calls)
}

/**
 * The agents of a file or a folder. `environment`: the values of `${NAME}` in them. `needs`: the
 * parts that are read, all by default. Throws `agent.invalid` with every mistake.
 */
export function agentsInFiles(
  path: string,
  environment: NodeJS.ProcessEnv,
  needs?: readonly AgentPart[],
): AgentsOf<ProviderName> {
  return loadAgentFiles(path, environment, optionsOf(needs), { providers })
}

/**
 * The agents that a program defines, with the same checks. `calls`: runs the tools that are agents.
 */
export function agentsOfProgram(
  agents: readonly unknown[],
  environment: NodeJS.ProcessEnv,
  needs?: readonly AgentPart[],
  calls: RunsCalls = createAgentCalls(),
): AgentsOf<ProviderName> {
  const written = withAgentsOfTools(agents).map((agent) => writtenAgent(agent, calls))
  return agentsInCode(written, environment, optionsOf(needs), { providers })
}

function optionsOf(needs: readonly AgentPart[] | undefined) {
  return {
    needs,
    checkSchema(schema: string) {
      const compiled = compiledSchema(schema)
      return compiled.kind === 'unusable' ? compiled.reason : undefined
    },
  }
}
