// The life of `weir up` between its first and its last line: open the bus, start the stages, wait
// for a signal or a failure, close everything in bounds.

import type { Logger } from 'pino'
import { openBus } from '../../client/open-bus.ts'
import { startStages } from '../../services/stages.ts'
import type { Agents } from '../../shared/agents/agents.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { Bus, Subscription } from '../../shared/contract/bus.ts'
import type { Guard } from '../../shared/contract/guard.ts'
import type { GuardMode } from '../../shared/contract/messages.ts'
import { retentionMsOf } from '../../shared/contract/retention.ts'
import { type StageName, topicSpecs } from '../../shared/contract/topology.ts'
import type { GuardInstruments } from '../../shared/runtime/guards/guard-instruments.ts'
import {
  type RunningGuards,
  type StartGuardsOptions,
  startGuards,
} from '../../shared/runtime/guards/start-guards.ts'
import type { Instruments } from '../../shared/runtime/instruments.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { closedInOrder, type Open } from './closing.ts'
import { type ReaderName, readerOfGuard } from './read-partitions.ts'
import { topicsThere } from './topics-there.ts'

export type RunOptions = {
  stages: readonly StageName[]
  agents: Agents
  settings: Settings
  /** Those that run in this process too, and the mode of all of them. */
  guards: readonly Guard[]
  guardMode?: GuardMode | undefined
  log: Logger
  instruments: Instruments
  guardInstruments: GuardInstruments
  /** Resolves when the process is to stop. */
  stop: Promise<void>
  opened(bus: Bus): void
  started(subscriptions: ReadonlyMap<ReaderName, Subscription>): void
  failed(stage: ReaderName, reason: string): void
}

/**
 * `stopped`: it was told to, and all was closed in order. `failed`: the bus could not be opened, a
 * stage could not be started or go on, or something did not close within `limits.shutdownMsMax`;
 * the log says what. Rejects never.
 */
export async function runStages(options: RunOptions): Promise<'stopped' | 'failed'> {
  const { log, stop } = options
  const open: Open = []
  let isStopping = false
  const ended = run(options, open).catch((error: unknown) => {
    if (!isStopping) log.fatal({ err: error }, 'the stages cannot be started') // else it is the stopping that keeps them from starting
  })
  const end = await Promise.race([
    stop.then(() => 'stopped' as const),
    ended.then(() => 'failed' as const),
  ])
  isStopping = true
  return (await closedInOrder(open, log)) ? end : 'failed'
}

/** Resolves when a stage cannot go on; rejects when they cannot be started. */
async function run(options: RunOptions, open: Open): Promise<void> {
  const {
    stages,
    agents,
    settings,
    guards,
    guardMode,
    log,
    instruments,
    guardInstruments,
    opened,
    started,
    failed,
  } = options
  const bus = await openBus(
    settings,
    log,
    guards.length === 0 ? {} : { replicationFactor: settings.replicationFactor },
  )
  open.push({ what: 'the bus', close: () => bus.close() })
  opened(bus)
  const { topicPrefix } = settings
  const retentionMs = retentionMsOf(settings.retention)
  const { ownsTopics } = busKindOf(settings)
  const partitions = ownsTopics ? settings.partitions : await topicsThere(bus, topicPrefix)
  const own = await guardsBeside({
    bus,
    topicPrefix,
    partitions,
    retentionMs,
    guards,
    mode: guardMode,
    log,
    instruments: guardInstruments,
  })
  if (own !== undefined) open.push({ what: 'the guards', close: () => own.close() })
  const running = await startStages({
    bus,
    agents,
    topicPrefix,
    partitions,
    retentionMs,
    log,
    names: stages,
    instruments,
  })
  open.push({ what: 'the stages', close: () => running.close() })
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

/** Before the stages: no turn that was open goes on without them. */
async function guardsBeside(options: StartGuardsOptions): Promise<RunningGuards | undefined> {
  const { bus, topicPrefix, partitions, retentionMs, guards } = options
  if (guards.length === 0) return undefined
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs))
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
