// `weir guard run`: one guard in its own process, until SIGTERM or SIGINT, with health and metrics
// on its own port. On Kafka, up to one process per partition shares the work. On the embedded bus
// the guard runs next to the process of the stages, which writes its answers; a second instance
// there repeats the first.

import type { Logger } from 'pino'
import { guardFile, guardOptions } from '../../../client/guards/guard-file.ts'
import { loadGuard } from '../../../client/guards/load-guard.ts'
import { openBus, partitionCount } from '../../../client/place/open-bus.ts'
import { helloOf } from '../../../client/place/stage-host.ts'
import type { OwnerLink } from '../../../shared/bus/embedded/beside/link.ts'
import type { LocalBus } from '../../../shared/bus/kind.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { GuardMode } from '../../../shared/contract/messages.ts'
import { retentionMsOf } from '../../../shared/contract/retention.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { type RunningGuards, startGuards } from '../../../shared/runtime/guards/start-guards.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import type { SettingFlags } from '../../terminal/command-settings.ts'
import { listenForInterrupts } from '../../terminal/interrupts.ts'
import { closedInOrder, type Open } from '../closing.ts'
import { createHealth } from '../health.ts'
import { startHealthServer } from '../health-server.ts'
import { createLogClock } from '../log-clock.ts'
import { createLagReader } from '../metrics/lag.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createReadPartitions, readerOfGuard } from '../read-partitions.ts'
import { serviceSettings } from '../service-settings.ts'
import { failoverWarning } from './failover.ts'
import { watchRegistration } from './in-force.ts'

/** `options`: a file of JSON for a guard that is a function of options. */
export type GuardRunOptions = SettingFlags & {
  mode?: GuardMode
  options?: string
  replace?: boolean
}

/**
 * `given`: a file, or the name of a guard that ships. Resolves to the exit code. Throws
 * `guard.invalid`, `guard.taken`, `usage`, `settings.invalid`, and the errors of openBus.
 */
export async function runGuardProcess(
  given: string,
  { mode, options, replace = false, ...flags }: GuardRunOptions,
): Promise<0 | 1> {
  const settings = serviceSettings(flags)
  const { topicPrefix } = settings
  const guard = await loadGuard(guardFile(given), guardOptions(options))
  const reader = readerOfGuard(guard.name)
  const log = createLog({ level: settings.logLevel })
  const logClock = createLogClock()
  const { clock, skewMs } = logClock
  const partitions = createReadPartitions(clock)
  const health = createHealth([reader], partitions, skewMs)
  let readLags: ReturnType<typeof createLagReader> = async () => []
  const metrics = createMetrics({
    stages: [],
    guards: [guard.name],
    partitions,
    clock,
    skewMs,
    damaged: () => health.damaged,
    lags: () => readLags(),
    ofProcess: true,
  })
  const open: Open = []

  async function start(): Promise<RunningGuards> {
    const server = await startHealthServer({
      host: settings.healthHost,
      port: settings.healthPort,
      health,
      metrics,
    })
    open.push({ name: 'the health server', close: () => server.close() })
    log.info(
      {
        guard: guard.name,
        version: guard.version,
        bus: settings.bus,
        topicPrefix,
        health: server.url,
      },
      'starting',
    )
    const bus = await busFor(settings, log)
    open.push({ name: 'the bus', close: () => bus.close() })
    logClock.opened(bus)
    readLags = createLagReader({ bus, clock, partitions })
    const place = {
      bus,
      topicPrefix,
      partitions: await partitionCount(bus, topicPrefix),
      retentionMs: retentionMsOf(settings.retentionDays),
    }
    const running = await startGuards({
      ...place,
      guards: [guard],
      mode,
      replace,
      log,
      instruments: metrics.guardInstruments,
    })
    open.push({ name: 'the guard', close: () => running.close() })
    const warning = failoverWarning(guard, settings)
    if (warning !== undefined) log.warn({ guard: guard.name }, warning)
    const watching = new AbortController()
    const [inForce] = running.inForce
    const watched =
      inForce === undefined
        ? undefined
        : watchRegistration({
            bus,
            topicPrefix,
            inForce,
            log,
            signal: watching.signal,
            changed: (text) => health.noted(reader, text),
          }).catch((error: unknown) =>
            log.warn({ err: error }, 'the registration of the guard can no longer be watched'),
          )
    const kind = busKindOf(settings)
    const stopWatchingWriter = kind.isLocal
      ? watchWriter(kind, settings, guard.name, (need) => health.missed(reader, need))
      : undefined
    open.push({
      name: 'the watch on the registration',
      async close() {
        watching.abort()
        stopWatchingWriter?.()
        await watched
      },
    })
    health.started(new Map([...running.subscriptions.values()].map((one) => [reader, one])))
    return running
  }

  const stop = Promise.withResolvers<'stopped'>()
  const stopListening = listenForInterrupts((signal) => {
    health.stopping()
    log.info({ signal }, 'stopping: a second signal kills')
    stop.resolve('stopped')
  })
  try {
    const started = start()
    started.catch(() => {}) // a stop may make the start fail
    const running = await Promise.race([started, stop.promise])
    const end =
      running === 'stopped' ? running : await Promise.race([stop.promise, failureOf(running)])
    if (end !== 'stopped') {
      health.failed(reader, end.error instanceof Error ? end.error.message : String(end.error))
      log.fatal({ err: end.error, guard: guard.name }, 'the guard cannot go on')
    }
    const isInOrder = await closedInOrder(open, log)
    return end === 'stopped' && isInOrder ? 0 : 1
  } finally {
    stopListening()
    await closedInOrder(open, log) // the parts of a failed start
  }
}

const writerCheckMs = 2_000

/**
 * Another process writes the guard's answers. Without answers, only this check notices its end. The
 * link shows that process which guard runs here.
 */
function watchWriter(
  kind: LocalBus,
  settings: Settings,
  guard: string,
  missed: (need: string | undefined) => void,
): () => void {
  let isOver = false
  let stop = () => {}
  let link: OwnerLink | undefined
  const greet = async (): Promise<void> => {
    const greeted = await kind.link(settings)
    if (greeted === undefined) return
    link = greeted
    void greeted.ended.then(() => {
      link = undefined
    })
    if (isOver) greeted.close()
    else await greeted.request(helloOf([guard]))
  }
  const check = async (): Promise<void> => {
    if (link === undefined) void greet().catch(() => {}) // an owner of another version, or none
    const isThere = await kind.writerListens(settings).catch(() => false)
    missed(isThere ? undefined : `no process writes ${settings.dataFolder}: answers wait`)
    if (!isOver) again()
  }
  const again = () => {
    stop = systemClock.after(writerCheckMs, () => void check())
  }
  void check()
  return () => {
    isOver = true
    stop()
    link?.close()
  }
}

function failureOf({ failed }: RunningGuards): Promise<{ error: unknown }> {
  return failed.catch((error: unknown) => ({ error }))
}

async function busFor(settings: Settings, log: Logger): Promise<Bus> {
  const kind = busKindOf(settings)
  if (!kind.isLocal)
    return openBus(settings, log, { replicationFactor: settings.replicationFactor })
  const beside = await kind.openBesideWriter(settings, log)
  if (beside !== undefined) return beside
  throw new WeirError(
    'usage',
    `on ${kind.title} a guard runs next to the process of the stages, and no process writes ${settings.dataFolder}: start weir up first, ` +
      'or run the guard in the same process: weir up --guard, weir ask --guard',
  )
}
