// An agent that runs itself: its model asks for up to 24 children in one response, and each child may do the
// same. The calls run with the real code of agents as tools. Operators stop a tree while its children start.

import {
  type AgentCalls,
  type AskAgent,
  createAgentCalls,
} from '../../../client/agents/agent-calls.ts'
import type { AgentTurn } from '../../../client/define/agent-tool.ts'
import type { Agent, Agents, FunctionTool } from '../../../shared/agents/agents.ts'
import { policyOf } from '../../../shared/agents/policy/policy.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { Message, TurnFinished } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { keyOf } from '../../../shared/contract/topology.ts'
import { lowestTreeCaps } from '../../../shared/contract/turn/tree-caps.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { startFunction } from '../../../shared/tools/module/function.ts'
import type { RunningTool, ToolCall } from '../../../shared/tools/tool.ts'
import { messageKey } from '../../evidence/evidence.ts'
import type { Broker } from '../broker.ts'
import type { Machine } from '../machine.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import type { Ledger } from './ledger.ts'

/** The tool that runs an agent, and the agent. */
export const childTool = 'delegate'
const parentName = 'cleo'

/** The agents and one more, with caps of its tree. */
export function withParent(agents: Agents, random: Random): Agents {
  const [like] = agents.values()
  if (like === undefined) return agents
  return new Map(agents).set(parentName, rollParent(like, random))
}

function rollParent({ settings, tools, ...like }: Agent, random: Random): Agent {
  const { version: _, ...policy } = settings.policy
  const [read] = tools
  if (read === undefined) throw new Error('an agent of the simulation has tools')
  const declaration = { ...read.declaration, name: childTool, idempotent: true, timeoutMs: 60_000 }
  const never = () => Promise.reject(new Error('each process has its own'))
  const delegate = { kind: 'function', run: never, runsAgent: parentName } as const
  const caps = {
    depth: random.between(1, 2),
    atOnce: random.between(1, 3),
    children: random.between(2, 8),
    ...(random.chance(0.3) && { rounds: random.between(5, 40) }),
    ...(random.chance(0.3) && { tokens: random.between(1_000, 20_000) }),
  }
  return {
    ...like,
    name: parentName,
    tools: [...tools, { declaration, run: delegate }],
    settings: {
      ...settings,
      policy: policyOf({
        ...policy,
        caps: { ...policy.caps, rounds: random.between(2, 5), calls: random.between(30, 80) },
        tree: lowestTreeCaps(null, caps),
      }),
    },
  }
}

export type ChildrenOptions = {
  ledger: Ledger
  scheduler: Scheduler
  broker: Broker
  agents: Agents
  topicPrefix: string
  partitions: number
}

/** Starts a call of the tool in a process. */
export type StartChild = (run: FunctionTool, call: ToolCall, machine: Machine) => RunningTool

export function childrenOf(options: ChildrenOptions): StartChild {
  const { ledger, broker, agents, topicPrefix, partitions } = options
  const ends = new Map<string, TurnFinished>()
  const waiting = new Map<string, (() => void)[]>()
  broker.onLanded(({ topic, value }) => {
    const message = topic === `${topicPrefix}activity` && value !== null ? decode(value) : undefined
    if (message?.type !== 'turn-finished') return
    const key = messageKey(message)
    if (!ends.has(key)) ends.set(key, message)
    for (const resolve of waiting.get(key) ?? []) resolve()
    waiting.delete(key)
  })

  function write(message: Message & { conversation: ConversationId }): void {
    const partition = partitionOf(message.conversation, partitions)
    broker.land([toRecord({ topic: `${topicPrefix}client-messages`, partition, message })])
  }

  /** As a process with the agents does: a repeat of the question waits for the same turn. */
  function ask(machine: Machine, agent: Agent, sent: Asked): { finished: Promise<TurnFinished> } {
    const { conversation, messageId, text, signal } = sent
    const key = messageKey({ conversation, messageId })
    const noted = ledger.sent.find((one) => messageKey(one) === key) ?? {
      conversation,
      messageId,
      taken: true,
      refusable: false,
      cancelled: false,
      answer: 'unobserved' as const,
    }
    if (!ledger.sent.includes(noted)) ledger.sent.push(noted)
    const { name, settings, tools } = agent
    const declarations = tools.map(({ declaration }) => declaration)
    write({
      type: 'user-message',
      conversation,
      messageId,
      text,
      agent: name,
      settings,
      declarations,
    })
    signal.addEventListener('abort', () => {
      if (machine.alive) cancel(sent)
    })
    const finished = new Promise<TurnFinished>((resolve) => {
      const end = () => machine.after(1, () => resolve(ends.get(key) as TurnFinished))
      if (ends.has(key)) end()
      else waiting.set(key, [...(waiting.get(key) ?? []), end])
    })
    return { finished }
  }

  function cancel(sent: Pick<Asked, 'conversation' | 'messageId'>): void {
    const { conversation, messageId } = sent
    const key = messageKey({ conversation, messageId })
    for (const noted of ledger.sent) if (messageKey(noted) === key) noted.cancelled = true
    write({ type: 'cancel-requested', conversation, messageId })
  }

  function callsBy(ask: AskAgent): AgentCalls {
    const calls = createAgentCalls()
    calls.begin(agents, partitions, { ask, cancel: async (sent) => cancel(sent) })
    return calls
  }

  // Any process that runs no call any more may cancel its agent.
  for (const { tools } of agents.values())
    for (const { run } of tools)
      if (run.kind === 'function' && run.runsAgent !== undefined)
        run.cancelAgent = callsBy(nobodyAsks).cancel

  return (run, call, machine) => {
    const calls = callsBy((agent, sent) => ask(machine, agent, sent))
    const turn = { agent: { name: run.runsAgent }, caps: {}, text: () => 'dig' } as unknown
    return startFunction(
      { ...run, run: (args, own) => calls.run(turn as AgentTurn, parentName, args, own) },
      call,
    )
  }
}

const nobodyAsks: AskAgent = () => {
  throw new Error('a process that only cancels asks no agent')
}

type Asked = { conversation: ConversationId; messageId: string; text: string; signal: AbortSignal }

type StopsOptions = {
  random: Random
  scheduler: Scheduler
  broker: Broker
  topicPrefix: string
  durationMs: Milliseconds
}

/** Stops trees, most of them in the second in which a child starts, and releases them. */
export function stopTrees(options: StopsOptions): void {
  const { random, broker, topicPrefix } = options
  const stop = treeStops(options)
  broker.onLanded(({ topic: landed, key }) => {
    if (landed !== `${topicPrefix}client-messages` || !key.startsWith('call/')) return
    if (random.chance(0.1)) stop(key.replace(/^(?:call\/)+/, '').replace(/\/.*$/s, ''))
  })
}

/** Stops the tree of a root within a second, once, and releases it. */
export function treeStops({
  random,
  scheduler,
  broker,
  topicPrefix,
  durationMs,
}: StopsOptions): (root: string) => void {
  const topic = `${topicPrefix}policies`
  const until = scheduler.now() + durationMs
  const stopped = new Set<string>()
  return (root) => {
    if (stopped.has(root) || scheduler.now() > until) return
    stopped.add(root)
    scheduler.at(scheduler.now() + random.below(1_000), () => stop(root))
  }

  function stop(name: string): void {
    const message = {
      type: 'operator-stop' as const,
      scope: 'conversation' as const,
      name,
      mode: random.pick(['drain', 'now', 'now'] as const),
      reason: 'a storm',
      setBy: 'operator',
      setAt: scheduler.now(),
    }
    broker.land([toRecord({ topic, partition: 0, message })])
    scheduler.at(scheduler.now() + random.between(3_000, 30_000), () =>
      broker.land([{ topic, partition: 0, key: keyOf(message), value: null }]),
    )
  }
}
