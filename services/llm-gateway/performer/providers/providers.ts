// The providers that an agent file can name: the formats of shared/wire with an API for agents. To add
// one, write its format and run `make schemas`. An SDK takes a third of a second to load, more than the
// rest of a start, so it is loaded with the first request.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { alternatives } from '../../../../shared/settings/mistake.ts'
import { type AgentFormatName, agentFormats, wholeFormat } from '../../../../shared/wire/formats.ts'
import { connectHttp } from './http-provider.ts'
import type { Provider, ProviderRecord } from './provider.ts'

export type ProviderName = AgentFormatName

type Providers = readonly [ProviderRecord<ProviderName>, ...ProviderRecord<ProviderName>[]]

/** `weir init` writes an agent file for the first one. */
export const providers = agentFormats.map((format) => ({
  ...format.agent,
  name: format.name,
  connect: async (agent: Agent, fetch?: typeof globalThis.fetch) =>
    connectHttp(await wholeFormat(format), agent, fetch),
})) as readonly ProviderRecord<ProviderName>[] as Providers

export const providerNames: readonly ProviderName[] = providers.map(({ name }) => name)

/** Throws `agent.invalid` if no provider has this name. */
export function providerNamed(name: string): ProviderRecord {
  const found = providers.find((provider) => provider.name === name)
  if (found !== undefined) return found
  throw new WeirError(
    'agent.invalid',
    `unknown provider ${JSON.stringify(name)}: must be ${alternatives(providerNames)}`,
  )
}

/** Connects each agent once: an SDK's client costs more than reading a response. */
export function connectOnce(): (agent: Agent) => Promise<Provider> {
  const connected = new WeakMap<Agent, Promise<Provider>>()
  return (agent) => {
    const provider = connected.get(agent) ?? connect(agent)
    connected.set(agent, provider)
    return provider
  }
}

/** `fetch` sends the requests; default: that of the agent's model, or over the network. */
export async function connect(
  agent: Agent,
  fetch: typeof globalThis.fetch | undefined = agent.model.fetch,
): Promise<Provider> {
  return providerNamed(agent.model.provider).connect(agent, fetch)
}
