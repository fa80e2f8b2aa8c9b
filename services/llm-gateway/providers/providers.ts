// The providers that an agent's file can name. A new one is its own file and a line here. Each is
// loaded when an agent that uses it asks for the first time: an SDK takes a third of a second, more
// than all else that Weir needs to start.

import type { Agent } from '../../../shared/agents/agents.ts'
import type { Provider } from './provider.ts'

/**
 * As `connect`, once for each agent: making an SDK's client costs more than an answer's worth of
 * reading.
 */
export function providers(): (agent: Agent) => Promise<Provider> {
  const connected = new WeakMap<Agent, Promise<Provider>>()
  return (agent) => {
    const provider = connected.get(agent) ?? connect(agent)
    connected.set(agent, provider)
    return provider
  }
}

/**
 * How an agent's model is asked. Its key and its address stay in here. `fetch`: how HTTP is spoken;
 * default: over the network.
 */
export async function connect(agent: Agent, fetch?: typeof globalThis.fetch): Promise<Provider> {
  switch (agent.model.provider) {
    case 'anthropic':
      return (await import('./anthropic/provider.ts')).anthropic(agent, fetch)
    case 'openai-chat':
      return (await import('./openai-chat/provider.ts')).openaiChat(agent, fetch)
    case 'openai-responses':
      return (await import('./openai-responses/provider.ts')).openaiResponses(agent, fetch)
    default:
      return agent.model.provider satisfies never
  }
}
