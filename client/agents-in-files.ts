// The agents of agent files, with the parts that this process uses.

import { providers } from '../services/llm-gateway/providers/providers.ts'
import { loadAgents } from '../shared/agents/file/load-agents.ts'
import type { AgentPart } from '../shared/agents/file/source.ts'
import { compiledSchema } from '../shared/contract/arguments/compiled-schema.ts'

/**
 * The agents of a file or a folder. `environment`: the values of `${NAME}` in them. `needs`: the
 * parts that are read, all by default. Throws `agent.invalid` with every mistake.
 */
export function agentsInFiles(
  path: string,
  environment: NodeJS.ProcessEnv,
  needs?: readonly AgentPart[],
) {
  const options = {
    ...(needs !== undefined && { needs }),
    checkSchema(schema: string) {
      const compiled = compiledSchema(schema)
      return compiled.kind === 'unusable' ? compiled.reason : undefined
    },
  }
  return loadAgents(path, environment, options, { providers })
}
