// Calls of tools that are agents: each runs a turn of the agent and returns its reply.
// AGENT-CALLS-1. The conversation and the message are made of the call. So a second start of the
//     call, after a crash, waits for the same turn.
// AGENT-CALLS-2. The turn has the lowest caps of its agent and its tool, and at most the wall time
//     and the tokens of the calling agent. Its tokens are reported with the end of the call.
// AGENT-CALLS-3. The turn has the redaction of the calling turn too, whose texts it may repeat.

import type { Agent, Agents, FunctionCall } from '../../shared/agents/agents.ts'
import { policyOf } from '../../shared/agents/agents.ts'
import { callOfKey, conversationOfCall, type SentMessage } from '../../shared/contract/ids.ts'
import type { Caps, RedactRule, TurnFinished } from '../../shared/contract/messages.ts'
import { lowestCaps } from '../../shared/contract/turn/caps.ts'
import { distinctRules } from '../../shared/runtime/redaction/agent-redaction.ts'
import type { AgentTurn } from '../define/agent-tool.ts'

/** Asks an agent of this Weir. */
export type AskAgent = (
  agent: Agent,
  message: SentMessage & { text: string; context: unknown; signal: AbortSignal },
) => { finished: Promise<TurnFinished> }

export type AgentCalls = {
  /** The `run` of a tool of the agent `caller`. */
  run(turn: AgentTurn, caller: string, args: unknown, call: FunctionCall): Promise<string>
  /** Gives it the agents and the way to ask them, once Weir is open. */
  begin(agents: Agents, ask: AskAgent): void
}

export function createAgentCalls(): AgentCalls {
  let weir: { agents: Agents; ask: AskAgent } | undefined

  return {
    async run({ agent: { name }, caps, text }, caller, args, call) {
      const { idempotencyKey, signal, context, redact = [] } = call
      const agent = weir?.agents.get(name)
      if (weir === undefined || agent === undefined)
        throw new Error(`the agent '${name}' cannot be asked before Weir is open`)
      const above = weir.agents.get(caller)?.settings.policy.caps
      const { finished } = weir.ask(asCalled(agent, { own: caps, above, redact }), {
        conversation: conversationOfCall(callOfKey(idempotencyKey)),
        messageId: 'call',
        text: text(args),
        context,
        signal,
      })
      const { outcome, reply, reason, totals } = await finished
      call.countTokens?.({ inputTokens: totals.inputTokens, outputTokens: totals.outputTokens })
      if (outcome === 'answered') return reply
      throw new Error(`the agent '${name}' has no answer: ${reason}`)
    },

    begin(agents, ask) {
      weir = { agents, ask }
    },
  }
}

type Calling = { own: Partial<Caps>; above: Caps | undefined; redact: readonly RedactRule[] }

/** Keeps AGENT-CALLS-2 and AGENT-CALLS-3. */
function asCalled(agent: Agent, { own, above, redact: ofCaller }: Calling): Agent {
  const { version: _, ...policy } = agent.settings.policy
  const { wallMs = policy.caps.wallMs, tokens = null } = above ?? {}
  const ofTool = lowestCaps(policy.caps, { ...policy.caps, ...own })
  const caps = lowestCaps(ofTool, { ...ofTool, wallMs, tokens })
  const redact = distinctRules([...policy.redact, ...ofCaller])
  return {
    ...agent,
    settings: { ...agent.settings, policy: policyOf({ ...policy, caps, redact }) },
  }
}
