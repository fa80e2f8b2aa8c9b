// The life of `weir up` between its first and its last log line: open the bus, start the stages,
// wait for a signal or a failure, close everything in bounded time.

import type { Logger } from 'pino'
import type { AgentCalls, AskAgent } from '../../client/agents/agent-calls.ts'
import type { Agents } from '../../client/agents/agents-in-files.ts'
import { createContexts } from '../../client/agents/contexts.ts'
import { type Edge, openEdge } from '../../client/edge/edge.ts'
import { fleetMembersAtStart, joinFleet } from '../../client/place/fleet.ts'
import { openBusOnceFree } from '../../client/place/open-bus.ts'
import { createStageHost } from '../../client/place/stage-host.ts'
import { openingOf } from '../../client/turn/opening.ts'
import { parseText } from '../../client/turn/question.ts'
import { askTurn } from '../../client/turn/turn.ts'
import { startStages } from '../../services/stages.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { Bus, Subscription } from '../../shared/contract/bus.ts'
import type { AnyGuard } from '../../shared/contract/guard/guard.ts'
import type { GuardMode } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { keptBy, topicSpecs } from '../../shared/contract/retention.ts'
import type { StageName } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { GuardInstruments } from '../../shared/runtime/guards/guard-instruments.ts'
import {
  type RunningGuards,
  type StartGuardsOptions,
  startGuards,
} from '../../shared/runtime/guards/start-guards.ts'
import type { Instruments } from '../../shared/runtime/instruments.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { tenantWeightsOf } from '../../shared/settings/tenant-weights.ts'
import { closedInOrder, type Open } from './closing.ts'
import { failoverWarning } from './guards/failover.ts'
import { type ReaderName, readerOfGuard } from './read-partitions.ts'
import { topicsThere } from './topics-there.ts'

/** A part of the process next to its stages, started when they run. It closes first. */
export type Beside = {
  name: string
  /** False: the process ends if another one owns the data folder. Default: it waits. */
  standsBy?: boolean
  /** Values that no log line may contain. */
  secrets?: readonly string[]
  start(place: {
    bus: Bus
    topicPrefix: string
    partitions: number
    /** Those of the stages. Empty: none of them needs any. */
    agents: Agents
    log: Logger
  }): Promise<{ close(): Promise<void> }>
}

export type RunOptions = {
  stages: readonly StageName[]
  agents: Agents
  /** Of the tools that are agents. */
  agentCalls: AgentCalls
  settings: Settings
  /** As in TopicsThereOptions. */
  setPartitions?: number | undefined
  /** The guards of this process, and the mode of all of them. */
  guards: readonly AnyGuard[]
  guardMode?: GuardMode | undefined
  beside: readonly Beside[]
  /** See WeirOptions. */
  runImported?: boolean | undefined
  log: Logger
  instruments: Instruments
  guardInstruments: GuardInstruments
  /** Resolves when the process must stop. */
  stop: Promise<void>
  opened(bus: Bus): void
  started(subscriptions: ReadonlyMap<ReaderName, Subscription>): void
  failed(stage: ReaderName, reason: string): void
}

/**
 * `stopped`: on request, with everything closed in order. `failed`: the bus did not open, a stage
 * failed, or closing exceeded `shutdownMsMax`. The log has the error. Never rejects.
 */
export async function runStages(options: RunOptions): Promise<'stopped' | 'failed'> {
  const { log, stop } = options
  const open: Open = []
  let isStopping = false
  const stopping = new AbortController()
  void stop.then(() => stopping.abort())
  const ended = run({ ...options, stopping: stopping.signal }, open).catch((error: unknown) => {
    if (!isStopping) log.fatal({ err: error }, 'the stages cannot be started') // a stop also makes a start fail
  })
  const end = await Promise.race([
    stop.then(() => 'stopped' as const),
    ended.then(() => 'failed' as const),
  ])
  isStopping = true
  return (await closedInOrder(open, log)) ? end : 'failed'
}

/** Resolves when a stage cannot go on. Rejects when the stages cannot start. */
async function run(options: RunOptions & { stopping: AbortSignal }, open: Open): Promise<void> {
  const {
    stages,
    agents,
    agentCalls,
    settings,
    guards,
    guardMode,
    log,
    instruments,
    guardInstruments,
    opened,
    started,
    failed,
    beside,
  } = options
  const { topicPrefix } = settings
  const { isLocal, ownsTopics } = busKindOf(settings)
  const contexts = createContexts(({ conversation, turn }) =>
    openingOf(
      { bus, topicPrefix, partition: partitionOf(conversation, settings.partitions) },
      turn,
    ),
  )
  const host = createStageHost({
    agents,
    topicPrefix,
    partitions: settings.partitions,
    keep: contexts.keep,
    guards: guards.map(({ name }) => name),
  })
  const found = await openBusOnceFree(settings, log, {
    runImported: options.runImported,
    ...(guards.length > 0 && { replicationFactor: settings.replicationFactor }),
    linkHost: host,
    signal: options.stopping,
    waits: (error) => {
      if (beside.some(({ standsBy }) => standsBy === false)) throw error
      log.info(
        { reason: error.message },
        'another process runs the stages; this one waits for its end',
      )
    },
  })
  if (found === undefined) return
  const bus = found
  open.push({ name: 'the bus', close: () => bus.close() })
  opened(bus)
  const { retentionMs, auditMs } = keptBy(settings)
  const { setPartitions } = options
  const partitions = ownsTopics
    ? settings.partitions
    : await topicsThere({
        bus,
        topicPrefix,
        setPartitions,
        members: () => fleetMembersAtStart({ bus, settings, log }),
        log,
      })
  if (isLocal) await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs, auditMs))
  const fleet = await joinFleet({ bus, settings, log })
  open.push({ name: 'the fleet', close: async () => fleet.close() })
  const own = await guardsBeside({
    bus,
    topicPrefix,
    partitions,
    retentionMs,
    auditMs,
    guards,
    mode: guardMode,
    log,
    instruments: guardInstruments,
  })
  if (own !== undefined) open.push({ name: 'the guards', close: () => own.close() })
  for (const guard of guards) {
    const warning = failoverWarning(guard, settings)
    if (warning !== undefined) log.warn({ guard: guard.name }, warning)
  }
  const edge = openEdge({ bus, topicPrefix, partitions })
  open.push({ name: 'the calls of agents', close: async () => edge.close() })
  agentCalls.begin(agents, partitions, { ask: askOver(edge, bus), cancel: edge.cancel })
  const running = await startStages({
    bus,
    agents,
    topicPrefix,
    partitions,
    retentionMs,
    auditMs,
    log,
    names: stages,
    instruments,
    weightOf: tenantWeightsOf(settings),
    ...(isLocal && { contextOf: contexts.of }),
    dataFolder: settings.dataFolder,
    holdsTools: true,
  })
  host.serve()
  open.push({ name: 'the stages', close: () => running.close() })
  for (const { name, start } of beside) {
    const { close } = await start({ bus, topicPrefix, partitions, agents, log })
    open.push({ name, close })
  }
  const guardSubscriptions = [...(own?.subscriptions ?? [])].map(
    ([name, one]) => [readerOfGuard(name), one] as const,
  )
  const subscriptions = new Map<ReaderName, Subscription>([
    ...running.subscriptions,
    ...guardSubscriptions,
  ])
  started(subscriptions)
  log.info({ partitions }, 'the stages are started')
  const { reader, error } = await firstFailure(subscriptions)
  failed(reader, error instanceof Error ? error.message : String(error))
  log.fatal(
    { stage: reader, err: error },
    reader.startsWith('guard.') ? 'a guard cannot go on' : 'a stage cannot go on',
  )
}

/** Asks an agent as a client does. The turn goes on in the fleet, also after the end of this process. */
function askOver(edge: Edge, { clock }: Bus): AskAgent {
  return (agent, { text, signal, ...message }) =>
    askTurn({
      edge,
      clock,
      question: { agent, text: parseText(text), ...message },
      isNew: false,
      signal,
      onOver() {},
    })
}

/** Started before the stages: an open turn must not continue without its guards. */
async function guardsBeside(
  options: StartGuardsOptions & { auditMs: Milliseconds },
): Promise<RunningGuards | undefined> {
  const { bus, topicPrefix, partitions, retentionMs, auditMs, guards } = options
  if (guards.length === 0) return undefined
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs, auditMs))
  return startGuards(options)
}

function firstFailure(
  subscriptions: ReadonlyMap<ReaderName, Subscription>,
): Promise<{ reader: ReaderName; error: unknown }> {
  return Promise.race(
    [...subscriptions].map(([reader, { failed }]) =>
      failed.catch((error: unknown) => ({ reader, error })),
    ),
  )
}
