// The agents of agent files and of a program, with the parts that this process uses.

import { providers } from '../services/llm-gateway/providers/providers.ts'
import { agentsInCode } from '../shared/agents/code/agents-in-code.ts'
import { loadAgents } from '../shared/agents/file/load-agents.ts'
import type { AgentPart } from '../shared/agents/file/source.ts'
import { compiledSchema } from '../shared/contract/arguments/compiled-schema.ts'
import { writtenAgent } from './define/written-agent.ts'

/**
 * The agents of a file or a folder. `environment`: the values of `${NAME}` in them. `needs`: the
 * parts that are read, all by default. Throws `agent.invalid` with every mistake.
 */
export function agentsInFiles(
  path: string,
  environment: NodeJS.ProcessEnv,
  needs?: readonly AgentPart[],
) {
  return loadAgents(path, environment, optionsOf(needs), { providers })
}

/** The agents that a program defines, with the same checks. */
export function agentsOfProgram(
  agents: readonly unknown[],
  environment: NodeJS.ProcessEnv,
  needs?: readonly AgentPart[],
) {
  return agentsInCode(agents.map(writtenAgent), environment, optionsOf(needs), { providers })
}

function optionsOf(needs: readonly AgentPart[] | undefined) {
  return {
    ...(needs !== undefined && { needs }),
    checkSchema(schema: string) {
      const compiled = compiledSchema(schema)
      return compiled.kind === 'unusable' ? compiled.reason : undefined
    },
  }
}
