// The life of `weir up` between its first and its last line: open the bus, start the stages, wait for a signal or a failure, close everything in bounds.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Agents } from '../../../shared/agents.ts'
import type { Bus, Subscription } from '../../../shared/bus/port.ts'
import type { Guard } from '../../../shared/guard.ts'
import type { RunningGuards, StartGuardsOptions } from '../../../shared/guards/start-guards.ts'
import { startGuards } from '../../../shared/guards/start-guards.ts'
import { limits } from '../../../shared/limits.ts'
import type { GuardMode } from '../../../shared/messages.ts'
import { retentionMsOf } from '../../../shared/retention.ts'
import type { Instruments } from '../../../shared/runtime/instruments.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { StageName } from '../../../shared/topology.ts'
import { topicSpecs } from '../../../shared/topology.ts'
import { killRunningGroups } from '../../executor/tool-process.ts'
import { openBus } from '../../open-bus.ts'
import { startStages } from '../../stages.ts'
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
  /** Resolves when the process is to stop. */
  stop: Promise<void>
  opened(bus: Bus): void
  started(subscriptions: ReadonlyMap<StageName, Subscription>): void
  failed(stage: StageName, reason: string): void
}

/** What must be closed, the last one first. */
type Open = { what: string; close(): Promise<void> }[]

/**
 * `stopped`: it was told to, and all was closed in order. `failed`: the bus could not be opened, a stage could not be started or go on, or something did
 * not close within `limits.shutdownMsMax`; the log says what. Rejects never.
 */
export async function runStages(options: RunOptions): Promise<'stopped' | 'failed'> {
  const { log, stop } = options
  const open: Open = []
  let isStopping = false
  const ended = run(options, open).catch((error: unknown) => {
    if (!isStopping) log.fatal({ err: error }, 'the stages cannot be started') // else it is the stopping that keeps them from starting
  })
  const end = await Promise.race([stop.then(() => 'stopped' as const), ended.then(() => 'failed' as const)])
  isStopping = true
  return (await closedInOrder(open, log)) ? end : 'failed'
}

/** Resolves when a stage cannot go on; rejects when they cannot be started. */
async function run(options: RunOptions, open: Open): Promise<void> {
  const { stages, agents, settings, guards, guardMode, log, instruments, opened, started, failed } = options
  const bus = await openBus(settings, log)
  open.push({ what: 'the bus', close: () => bus.close() })
  opened(bus)
  const { topicPrefix } = settings
  const retentionMs = retentionMsOf(settings.retention)
  const partitions = settings.bus === 'kafka' ? await topicsThere(bus, topicPrefix) : settings.partitions
  const own = await guardsBeside({ bus, topicPrefix, partitions, retentionMs, guards, mode: guardMode, log })
  if (own !== undefined) open.push({ what: 'the guards', close: () => own.close() })
  const running = await startStages({ bus, agents, topicPrefix, partitions, retentionMs, log, names: stages, instruments })
  open.push({ what: 'the stages', close: () => running.close() })
  started(running.subscriptions)
  log.info({ partitions }, 'the stages are started')
  const { stage, error } = await Promise.race([firstFailure(running.subscriptions), failureOf(own)])
  if (stage === undefined) return log.fatal({ err: error }, 'a guard cannot go on')
  failed(stage, error instanceof Error ? error.message : String(error))
  log.fatal({ stage, err: error }, 'a stage cannot go on')
}

/** Before the stages: no turn that was open goes on without them. */
async function guardsBeside(options: StartGuardsOptions): Promise<RunningGuards | undefined> {
  const { bus, topicPrefix, partitions, retentionMs, guards } = options
  if (guards.length === 0) return undefined
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs))
  return startGuards(options)
}

async function failureOf(guards: RunningGuards | undefined): Promise<{ stage: undefined; error: unknown }> {
  return (guards?.failed ?? new Promise<never>(() => {})).catch((error: unknown) => ({ stage: undefined, error }))
}

function firstFailure(subscriptions: ReadonlyMap<StageName, Subscription>): Promise<{ stage: StageName; error: unknown }> {
  return Promise.race([...subscriptions].map(([stage, { failed }]) => failed.catch((error: unknown) => ({ stage, error }))))
}

/** False: something could not be closed, or not in time. */
async function closedInOrder(open: Open, log: Logger): Promise<boolean> {
  let isInOrder = true
  const closeAll = async () => {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { what, close } = next
      await close().catch((error: unknown) => {
        isInOrder = false
        log.error({ err: error }, `closing ${what} failed`)
      })
    }
    return true
  }
  const late = new AbortController()
  const isInTime = await Promise.race([closeAll(), sleep(limits.shutdownMsMax, false, { signal: late.signal })])
  late.abort()
  if (!isInTime) {
    log.error({ afterMs: limits.shutdownMsMax }, 'closing took too long; the process ends without it')
    killRunningGroups()
  }
  return isInOrder && isInTime
}
