// The providers that an agent's file can name. A new one is its own file and a line here.

import type { Agent } from '../../shared/agents.ts'
import { anthropic } from './anthropic.ts'
import { openaiChat } from './openai-chat.ts'
import type { Provider } from './provider.ts'

/** As `connect`, once for each agent: making an SDK's client costs more than an answer's worth of reading. */
export function providers(): (agent: Agent) => Provider {
  const connected = new WeakMap<Agent, Provider>()
  return (agent) => {
    const provider = connected.get(agent) ?? connect(agent)
    connected.set(agent, provider)
    return provider
  }
}

/** How an agent's model is asked. Its key and its address stay in here. */
export function connect(agent: Agent): Provider {
  switch (agent.model.provider) {
    case 'anthropic':
      return anthropic(agent)
    case 'openai-chat':
      return openaiChat(agent)
    default:
      return agent.model.provider satisfies never
  }
}
