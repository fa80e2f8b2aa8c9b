// `weir up`: all or some stages in this process, until SIGTERM or SIGINT. Exit codes: 0 stopped and
// closed in order, 1 failed or not closed in order, 2 bad usage. A second signal kills.
// Health answers from before the bus opens until everything is closed. A signal makes
// the process unready at once.
// The log on standard error is JSON lines, from `starting` to the line with the end.
// The end has a time limit, even if the bus or a tool hangs.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createAgentCalls, withAgentCalls } from '../../client/agents/agent-calls.ts'
import { type Agents, agentsInFiles } from '../../client/agents/agents-in-files.ts'
import { type McpAgents, openMcpAgents, pinsFolderOf } from '../../client/agents/mcp-agents.ts'
import { isModule, moduleEndings } from '../../client/guards/guard-file.ts'
import { loadGuard } from '../../client/guards/load-guard.ts'
import { secretsOf } from '../../shared/agents/secrets.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { AnyGuard } from '../../shared/contract/guard/guard.ts'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { version } from '../../shared/lib/version.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { SettingFlags } from '../terminal/command-settings.ts'
import { listenForInterrupts } from '../terminal/interrupts.ts'
import { backendOf } from '../traces/send-spans.ts'
import { guardNamed } from './guards/named-guard.ts'
import { createHealth } from './health.ts'
import { startHealthServer } from './health-server.ts'
import { createLogClock } from './log-clock.ts'
import { createLagReader } from './metrics/lag.ts'
import { createMetrics } from './metrics/metrics.ts'
import { pushMetrics } from './metrics/pushed-metrics.ts'
import { createReadPartitions, readerOfGuard } from './read-partitions.ts'
import { type Beside, runStages } from './run-stages.ts'
import { agentParts, selectedStages, stagesWithAgents } from './selected-stages.ts'
import { partitionsSetBy, serviceSettings } from './service-settings.ts'

/**
 * `stages`: names separated by commas. Default: all. `guards`: a folder. `guard`: single guards.
 * `metricsEndpoint`: a backend of OpenTelemetry. Default: metrics are only on the health port.
 */
export type UpOptions = SettingFlags & {
  stages?: string
  guards?: string
  guard?: string[]
  guardMode?: 'shadow' | 'enforce'
  runImported?: boolean
  metricsEndpoint?: string
}

/**
 * Resolves to the exit code. `beside`: parts that also run in this process. Throws before it
 * starts: `usage`, `settings.invalid`, `agent.invalid`.
 */
export async function up(options: UpOptions, beside: readonly Beside[] = []): Promise<0 | 1> {
  const stages = selectedStages(options.stages)
  const settings = serviceSettings(options)
  const backend =
    options.metricsEndpoint === undefined
      ? undefined
      : backendOf(options.metricsEndpoint, process.env, 'metrics', '--metrics-endpoint')
  const agentCalls = createAgentCalls()
  const inFiles = agentsFor(stages, settings, { isNeeded: beside.length === 0 })
  const written = withAgentCalls(inFiles, agentCalls)
  const guards = await guardsOf(options)
  const secrets = [...secretsOf(written), ...beside.flatMap((part) => part.secrets ?? [])]
  const log = createLog({ level: settings.logLevel, secrets })
  const logClock = createLogClock()
  const { clock, skewMs } = logClock
  const partitions = createReadPartitions(clock)
  const guardNames = guards.map(({ name }) => name)
  const health = createHealth([...stages, ...guardNames.map(readerOfGuard)], partitions, skewMs)
  let readLags: ReturnType<typeof createLagReader> = async () => []
  let readSpace: Bus['space']
  const metrics = createMetrics({
    stages,
    guards: guardNames,
    partitions,
    clock,
    skewMs,
    damaged: () => health.damaged,
    lags: () => readLags(),
    space: () => readSpace?.(),
    ofProcess: true,
  })
  const server = await startHealthServer({
    host: settings.healthHost,
    port: settings.healthPort,
    health,
    metrics,
  })
  logStart(log, stages, settings, server.url)
  const pushed = backend && pushMetrics(backend, { metrics, log })
  let mcp: McpAgents<Agents> | undefined

  const stop = Promise.withResolvers<void>()
  const stopListening = listenForInterrupts((signal) => {
    health.stopping()
    log.info({ signal }, 'stopping: running work may end; a second signal kills')
    stop.resolve()
  })
  try {
    mcp = await openMcpAgents(written, log, pinsFolderOf(settings))
    const { agents } = mcp
    const end = await runStages({
      stages,
      agents,
      agentCalls,
      settings,
      setPartitions: partitionsSetBy(options),
      log,
      guards,
      guardMode: options.guardMode,
      beside,
      runImported: options.runImported,
      stop: stop.promise,
      instruments: metrics.instruments,
      guardInstruments: metrics.guardInstruments,
      opened(bus) {
        readSpace = bus.space
        logClock.opened(bus)
        readLags = createLagReader({ bus, clock, partitions })
      },
      started: (subscriptions) => health.started(subscriptions),
      failed: (stage, reason) => health.failed(stage, reason),
    })
    // The bus is closed. Its gauges are missing from the last metrics.
    readSpace = undefined
    readLags = async () => []
    log.info({ end }, end === 'stopped' ? 'stopped' : 'ended after a failure')
    return end === 'stopped' ? 0 : 1
  } finally {
    stopListening()
    await mcp?.close()
    await pushed?.close()
    await server.close()
  }
}

async function guardsOf({ guards: folder, guard: named = [] }: UpOptions): Promise<AnyGuard[]> {
  const guards = folder === undefined ? [] : await guardsIn(folder)
  for (const given of named) guards.push(await guardNamed(given))
  return guards
}

/**
 * Reads only the parts that the stages use: the variables of the others need not be set. A process
 * with fronts needs no agents: guests have their own models and tools.
 */
function agentsFor(
  stages: readonly StageName[],
  { agents }: Settings,
  { isNeeded }: { isNeeded: boolean },
): Agents {
  const inNeed = stagesWithAgents(stages)
  if (inNeed.length === 0 || (agents === '' && !isNeeded)) return new Map()
  if (agents === '')
    throw usageError(
      `${inNeed.join(' and ')} need agent files: give a file or a folder with --agents (WEIR_AGENTS), or leave these stages out with --stages`,
    )
  return agentsInFiles(agents, process.env, agentParts(stages))
}

function logStart(
  log: Logger,
  stages: readonly StageName[],
  settings: Settings,
  health: string,
): void {
  const { bus, topicPrefix } = settings
  const kind = busKindOf(settings)
  log.info(
    { version: version(), bus, ...kind.describe(settings), stages, topicPrefix, health },
    'starting',
  )
  if (!kind.isLocal) return
  const missing = stageNames.filter((name) => !stages.includes(name))
  if (missing.length > 0)
    log.warn(
      { missing },
      `on ${kind.title} no other process can run the stages that are missing here: turns stop there`,
    )
}

/** In the order of the files. Throws `guard.invalid`, and `usage` for a folder without guards. */
async function guardsIn(folder: string): Promise<AnyGuard[]> {
  const files = filesIn(folder)
  if (files.length === 0)
    throw new WeirError(
      'usage',
      `no guard in ${folder}: the names of modules end with ${moduleEndings.join(', ')}`,
    )
  const guards: AnyGuard[] = []
  for (const file of files) guards.push(await loadGuard(join(folder, file)))
  return guards
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isModule).sort()
  } catch (error) {
    throw noFolder(folder, error)
  }
}

function noFolder(folder: string, cause: unknown): WeirError {
  return new WeirError(
    'usage',
    `${folder} is no folder of guards: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
}
