// Calls of tools that are agents: each runs a turn of the agent and returns its reply.
// A cancel reaches the turn also while no process runs its call.
// The conversation and the message are made of the call. So a second start of the
// call, after a crash, waits for the same turn.
// The turn has the lowest caps of its agent and its tool, and at most the wall time
// and the tokens of the calling agent. Its tokens are reported with the end of the call.
// The turn has the redaction of the calling turn too, whose texts it may repeat.
// The conversation names its callers and has their partition. So stops reach it, and a
// guard counts its calls with those of its callers. The tree has the caps of the calling turn.

import { agentWallMs, isUnbound, taskOf } from '../../shared/agents/agent-tool.ts'
import type {
  Agent,
  Agents,
  CallingTurn,
  FunctionCall,
  FunctionTool,
  Tool,
} from '../../shared/agents/agents.ts'
import { policyOf } from '../../shared/agents/policy/policy.ts'
import {
  calledConversation,
  formerConversation,
} from '../../shared/contract/call/called-conversation.ts'
import { callOfKey, parseConversationId, type SentMessage } from '../../shared/contract/ids.ts'
import type { Caps, TurnFinished } from '../../shared/contract/messages.ts'
import { lowestCaps } from '../../shared/contract/turn/caps.ts'
import { childCutShort, childEnded } from '../../shared/model-texts/trees.ts'
import { distinctRules } from '../../shared/runtime/redaction/agent-redaction.ts'
import type { AgentTurn } from '../define/agent-tool.ts'

/** Asks an agent of this Weir. */
export type AskAgent = (
  agent: Agent,
  message: SentMessage & { text: string; context: unknown; signal: AbortSignal },
) => { finished: Promise<TurnFinished> }

export type CancelAgent = (message: SentMessage) => Promise<void>

export type RunsCalls = {
  /** The `run` of a tool of the agent `caller`. */
  run(turn: AgentTurn, caller: string, args: unknown, call: FunctionCall): Promise<string>
  /** The `cancelAgent` of each such tool. */
  cancel: NonNullable<FunctionTool['cancelAgent']>
}

export type AgentCalls = RunsCalls & {
  /** Gives it the agents and the ways to ask and to cancel them, once Weir is open. */
  begin(agents: Agents, partitions: number, ways: { ask: AskAgent; cancel: CancelAgent }): void
}

export function createAgentCalls(): AgentCalls {
  let weir: { agents: Agents; partitions: number; ask: AskAgent; cancel: CancelAgent } | undefined

  return {
    async cancel({ idempotencyKey, caller }) {
      await weir?.cancel(messageOf(idempotencyKey, caller, weir.partitions))
    },

    async run({ agent: { name }, caps, text }, caller, args, call) {
      const {
        idempotencyKey,
        signal,
        context,
        caller: calling = { redact: [], calledBy: [], tree: null },
      } = call
      const agent = weir?.agents.get(name)
      if (weir === undefined || agent === undefined)
        throw new Error(`the agent '${name}' cannot be asked before Weir is open`)
      const above = weir.agents.get(caller)?.settings.policy.caps
      const { redact, calledBy, tree } = calling
      const from = { redact, calledBy: [caller, ...(calledBy ?? [])], tree }
      const { finished } = weir.ask(asCalled(agent, { own: caps, above, from }), {
        ...messageOf(idempotencyKey, calling, weir.partitions),
        text: text(args),
        context,
        signal,
      })
      const end = await finished
      const { inputTokens, outputTokens } = end.totals
      call.countTokens?.({ inputTokens, outputTokens })
      if (end.outcome !== 'answered') throw new Error(childEnded(name, wayOf(end), end.reason))
      return end.cap === null ? end.reply : childCutShort(name, end.cap, end.reply)
    },

    begin(agents, partitions, ways) {
      weir = { agents, partitions, ...ways }
    },
  }
}

/** The agents with `calls` for the tools of agent files that are agents. */
export function withAgentCalls<Provider extends string>(
  agents: Agents<Provider>,
  calls: RunsCalls,
): Agents<Provider> {
  return new Map(
    [...agents].map(([name, agent]) => {
      const isBound = !agent.tools.some(({ run }) => run.kind === 'function' && isUnbound(run))
      if (isBound) return [name, agent]
      return [name, { ...agent, tools: agent.tools.map((tool) => boundTool(tool, name, calls)) }]
    }),
  )
}

function boundTool(tool: Tool, caller: string, calls: RunsCalls): Tool {
  const { run } = tool
  if (run.kind !== 'function' || run.runsAgent === undefined || !isUnbound(run)) return tool
  const turn = { agent: { name: run.runsAgent }, caps: { wallMs: agentWallMs }, text: taskOf }
  const asked: FunctionTool['run'] = (args, call) => calls.run(turn, caller, args, call)
  return { ...tool, run: { ...run, run: asked, cancelAgent: calls.cancel } }
}

/** A second start asks in the same conversation, also after an upgrade. */
function messageOf(
  idempotencyKey: string,
  caller: FunctionCall['caller'],
  partitions: number,
): SentMessage {
  const id = callOfKey(idempotencyKey)
  const conversation =
    caller?.calledBy === null
      ? formerConversation(id)
      : parseConversationId(calledConversation(id, partitions))
  return { conversation, messageId: 'call' }
}

/** Also of a turn that a stop, a budget or the loop-detector ended. */
function wayOf({ outcome, class: failure }: TurnFinished): Parameters<typeof childEnded>[1] {
  if (outcome === 'cancelled' || failure === 'stopped' || failure === 'cancelled') return 'stopped'
  const isLimit = failure === 'budget' || failure === 'no_progress' || failure === 'context_full'
  return outcome === 'capped' || isLimit ? 'limit' : 'failed'
}

type Calling = { own: Partial<Caps>; above: Caps | undefined; from: CallingTurn }

function asCalled(agent: Agent, { own, above, from }: Calling): Agent {
  const { version: _, ...policy } = agent.settings.policy
  const { wallMs = policy.caps.wallMs, tokens = null } = above ?? {}
  const ofTool = lowestCaps(policy.caps, { ...policy.caps, ...own })
  const caps = lowestCaps(ofTool, { ...ofTool, wallMs, tokens })
  const redact = distinctRules([...policy.redact, ...from.redact])
  return {
    ...agent,
    settings: {
      ...agent.settings,
      policy: policyOf({
        ...policy,
        caps,
        redact,
        calledBy: from.calledBy,
        tree: from.tree ?? policy.tree,
      }),
    },
  }
}
