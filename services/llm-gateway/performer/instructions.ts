// The instructions of a request: those of the agent, and those of the message that opened the turn.
// The agent's come first, because they are equal in all its requests (for the prompt cache).

import type { Agent } from '../../../shared/agents/agents.ts'
import type { AgentSettings } from '../../../shared/contract/messages.ts'
import { outputInstructions } from '../../../shared/model-texts/requests.ts'

/** Undefined: those of the agent alone. */
export function instructionsOf(
  { system: ofAgent }: Agent,
  { system, output }: AgentSettings,
): string | undefined {
  if (system === null && output === null) return undefined
  const texts = [ofAgent, system ?? '', output === null ? '' : outputInstructions(output)]
  return texts.filter((text) => text.trim() !== '').join('\n\n')
}
