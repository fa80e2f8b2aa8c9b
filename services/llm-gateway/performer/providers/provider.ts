// The interface between gateway and provider: one request in, a stream of normalized events and one
// ending out. An implementation only maps its wire format. It has no retries, no deadlines and no
// assembly of arguments.

import type { Agent } from '../../../../shared/agents/agents.ts'
import type { ProviderRequest, Streamed } from '../../../../shared/wire/exchange.ts'
import type { AgentFormat } from '../../../../shared/wire/format.ts'

/** Connects an agent to its provider. A promise if the SDK must be loaded first. */
export type Connect = (agent: Agent) => Provider | Promise<Provider>

export type Provider = {
  /**
   * Sends one round. Yields events in stream order, then exactly one `finished` or `failed`. Must
   * not throw: every outside error is a `failed`. After `signal` aborts it ends soon, with or
   * without an ending, and nobody reads the rest. Must call `onBytes` for every piece of the
   * response: silence reveals a stall (I5.3). Comments and pings count, because a provider with a
   * queue sends nothing else. The caller decides how long they suffice.
   */
  stream(
    request: ProviderRequest,
    signal: AbortSignal,
    onBytes: () => void,
  ): AsyncIterable<Streamed>
}

/** A provider as agent files, `doctor`, `normalize` and `init` know it. `connect` loads the SDK. */
export type ProviderRecord<Name extends string = string> = AgentFormat & {
  /** As `model.provider` of an agent file. */
  name: Name
  /** `fetch` sends the requests; default: over the network. */
  connect(agent: Agent, fetch?: typeof globalThis.fetch): Promise<Provider>
}
