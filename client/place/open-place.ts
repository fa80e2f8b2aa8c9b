// Opens the log of a Weir: a data folder that processes share, or Kafka. It runs the stages in this
// process if they belong here.

import type { Logger } from 'pino'
import type { RunningStages } from '../../services/stages.ts'
import { eraseIn } from '../../shared/bus/erase-in.ts'
import type { LocalBus } from '../../shared/bus/kind.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { keptBy, topicSpecs } from '../../shared/contract/retention.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { tenantWeightsOf } from '../../shared/settings/tenant-weights.ts'
import type { Agents } from '../agents/agents-in-files.ts'
import { type Contexts, createContexts } from '../agents/contexts.ts'
import { openingOf } from '../turn/opening.ts'
import type { WeirOptions } from '../weir-options.ts'
import { clockOfChoice } from './bus-choice.ts'
import { closedOnFailure } from './closed-on-failure.ts'
import { fleetMembersAtStart, joinFleet } from './fleet.ts'
import {
  keepPartitionCount,
  openBus,
  openBusBeside,
  openBusForStages,
  openBusReadOnly,
  partitionCount,
  patientBus,
} from './open-bus.ts'
import { runBeside, runHere } from './run-here.ts'
import { createSharedFolder, type SharedFolder } from './shared-folder.ts'
import type { StagesChoice } from './stages-choice.ts'

export type OpenParts = { options: WeirOptions; settings: Settings; agents: Agents; log: Logger }

/** The log as this process uses it. `folder`: it shares the log's folder with others. */
export type Place = {
  bus: Bus
  partitions: number
  contexts: Contexts
  running: Pick<RunningStages, 'failed' | 'close'>
  folder?: SharedFolder
}

export async function openFolder({
  options,
  settings,
  agents,
  log,
  kind,
  stages,
}: OpenParts & { kind: LocalBus; stages: StagesChoice }): Promise<Place> {
  const { topicPrefix, partitions, dataFolder } = settings
  const weightOf = tenantWeightsOf(settings)
  const parts = { agents, topicPrefix, partitions, ...keptBy(settings), log, dataFolder, weightOf }
  const folder = createSharedFolder({
    kind,
    settings,
    stages,
    agents,
    log,
    runImported: options.runImported,
    clock: clockOfChoice(options.bus),
    guards: options.guards?.guards.map(({ name }) => name) ?? [],
    runStages: (bus) => runHere({ ...parts, bus, contextOf: contexts.of }, options),
    runBeside: (bus) => runBeside({ ...parts, bus }, options),
  })
  const { bus } = folder
  const contexts = createContexts(
    ({ conversation, turn }) =>
      openingOf({ bus, topicPrefix, partition: partitionOf(conversation, partitions) }, turn),
    (time) => folder.contextsArrive(time),
  )
  await closedOnFailure(bus, () => folder.join(contexts))
  return {
    bus,
    partitions,
    contexts,
    folder,
    running: { failed: folder.failed, close: folder.stop },
  }
}

/**
 * The log of a data folder for a process without agents, which runs no stages. It reads also while no
 * process runs them. Each write opens the folder for a moment, or goes through its owner. So it never
 * keeps a process with agents off the folder. Throws `bus.not-a-database` if there is no log.
 */
export async function openWatched({
  settings,
  log,
}: Pick<OpenParts, 'settings' | 'log'>): Promise<Place> {
  const reading = await openBusReadOnly(settings, log)
  async function throughWriter<Result>(write: (bus: Bus) => Promise<Result>): Promise<Result> {
    const writing = await openBusBeside(settings, log)
    try {
      return await write(writing)
    } finally {
      await writing.close()
    }
  }
  const bus: Bus = {
    ...reading,
    append: (...records) => throughWriter((writing) => writing.append(...records)),
    erase: (erasure) => throughWriter((writing) => eraseIn(writing, erasure)),
  }
  return closedOnFailure(reading, async () => ({
    bus,
    partitions: await partitionCount(bus, settings.topicPrefix),
    contexts: createContexts(async () => undefined),
    running: { failed: new Promise<never>(() => {}), close: async () => {} },
  }))
}

export async function openShared({
  options,
  settings,
  agents,
  log,
  stages,
}: OpenParts & { stages: StagesChoice }): Promise<Place> {
  const { topicPrefix } = settings
  const isHere = stages === 'here'
  const bus = isHere
    ? await openBusForStages(settings, log, { runImported: options.runImported })
    : await openBus(settings, log, { connectMs: askConnectMs })
  return closedOnFailure(bus, async () => {
    const partitions = await partitionsOf(
      isHere ? patientBus(bus, log) : bus,
      isHere,
      options,
      settings,
    )
    const contexts = createContexts(({ conversation, turn }) =>
      openingOf({ bus, topicPrefix, partition: partitionOf(conversation, partitions) }, turn),
    )
    const parts = {
      bus,
      agents,
      topicPrefix,
      partitions,
      ...keptBy(settings),
      log,
      dataFolder: settings.dataFolder,
      weightOf: tenantWeightsOf(settings),
    }
    if (!isHere) {
      const running = { failed: new Promise<never>(() => {}), close: async () => {} }
      return { bus, partitions, contexts, running }
    }
    await bus.ensureTopics(topicSpecs(topicPrefix, partitions, parts.retentionMs, parts.auditMs))
    const fleetParts = { bus, settings, log }
    const members = () => fleetMembersAtStart(fleetParts)
    await keepPartitionCount({ bus, topicPrefix, partitions, members, log })
    // Before the stages: a version that is too far away takes no partition.
    const fleet = await joinFleet(fleetParts)
    const left = { close: async () => fleet.close() }
    const running = await closedOnFailure(left, () =>
      runHere({ ...parts, contextOf: contexts.of }, options),
    )
    async function close(): Promise<void> {
      fleet.close()
      await running.close()
    }
    return { bus, partitions, contexts, running: { failed: running.failed, close } }
  })
}

/** Short, because a person may wait. */
const askConnectMs = 15_000

/**
 * With a wrong number, a message would go to a partition that is not its conversation's. Stages
 * that run here create missing topics, so the number of a new log is the option's.
 */
async function partitionsOf(
  bus: Bus,
  isHere: boolean,
  { partitions }: WeirOptions,
  settings: Settings,
): Promise<number> {
  const found = await partitionCount(bus, settings.topicPrefix).catch((error: unknown) => {
    const isNew = error instanceof WeirError && error.code === 'bus.topic-missing'
    if (isNew && isHere && partitions !== undefined) return partitions
    throw error
  })
  if (partitions === undefined || partitions === found) return found
  throw new WeirError(
    'bus.topic-differs',
    `the topics have ${found} partitions, and the option partitions is ${partitions}: leave it out`,
  )
}
