// The role of a process in a shared data folder: it owns the folder and runs the stages, or it is
// linked to the owner, or it has none. Owns: the bus, the link and the stages of the role.
// Does not own: the choice of a role and its time (shared-folder.ts).

import type { Logger } from 'pino'
import type { Agents } from '../../shared/agents/agents.ts'
import type { OwnerLink } from '../../shared/bus/embedded/beside/link.ts'
import type { LinkHost } from '../../shared/bus/embedded/beside/owner-links.ts'
import type { LocalBus } from '../../shared/bus/kind.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { keptBy, topicSpecs } from '../../shared/contract/retention.ts'
import { type Clock, systemClock as clock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Contexts } from '../agents/contexts.ts'
import { jsonOf } from '../plain-json.ts'
import type { OwnerFacts } from './agent-facts.ts'
import { joinFleet } from './fleet.ts'
import { openBusForStages } from './open-bus.ts'
import { createStageHost, type HostRequest, helloOf, type Welcome } from './stage-host.ts'
import type { SwitchingBus } from './switching-bus.ts'

type Running = { failed: Promise<never>; close(): Promise<void> }

export type FolderRoleOptions = {
  kind: LocalBus
  settings: Settings
  runImported: boolean | undefined
  /** The clock of the log, for tests. Default: the machine's. */
  clock?: Clock | undefined
  agents: Agents
  /** The names of the guards of this process. */
  guards: readonly string[]
  log: Logger
  /** Starts the stages in this process, with its guards. The log has its topics. */
  runStages(bus: Bus): Promise<Running>
  /** Starts the guards of this process next to the owner. */
  runBeside(bus: Bus): Promise<{ close(): Promise<void> }>
}

type Role =
  | { kind: 'owner'; bus: Bus; running: Running }
  | { kind: 'linked'; link: OwnerLink; owner: OwnerFacts; beside: { close(): Promise<void> } }
  | { kind: 'none' }

export type FolderRole = ReturnType<typeof createFolderRole>

export type RoleEvents = {
  contexts(): Contexts | undefined
  /** As StageHostOptions. */
  leave: (() => boolean) | undefined
  /** The stages of this owner failed. */
  onFailed(error: unknown): void
  /** The owner ended. `besideEnds`: the guards next to it have ended. */
  onOwnerEnded(besideEnds: Promise<void>): void
}

export function createFolderRole(
  options: FolderRoleOptions,
  switching: SwitchingBus,
  { contexts, leave, onFailed, onOwnerEnded }: RoleEvents,
) {
  const { kind, settings, agents, guards, log } = options
  const { topicPrefix, partitions, dataFolder } = settings
  let role: Role = { kind: 'none' }
  let reading: Bus | undefined
  let lastOwner: OwnerFacts | undefined
  /** When this process became the owner after another one; 0: never. */
  let succeededAt = 0

  return {
    get now(): Role {
      return role
    },
    get lastOwner() {
      return lastOwner
    },
    get succeededAt() {
      return succeededAt
    },
    own,
    linkUp,

    /** Gives up the folder that this process owns, and reads on. */
    async handOver(): Promise<void> {
      const left = drop()
      if (left.kind !== 'owner') return
      await left.running.close()
      reading = await openReading()
      switching.use(reading)
      await left.bus.close()
      log.info({ dataFolder }, 'this process leaves the folder to one that runs agents')
    },

    async close(): Promise<void> {
      const left = drop()
      if (left.kind === 'linked') left.link.close()
      try {
        if (left.kind === 'owner') await left.bus.close()
      } finally {
        await reading?.close()
      }
    },
  }

  /** Throws `bus.locked` if another process owns the folder. */
  async function own(): Promise<void> {
    const host = createStageHost({
      agents,
      guards,
      topicPrefix,
      partitions,
      keep: (message, value) => contexts()?.keep(message, value) ?? (() => {}),
      leave,
    })
    const bus = await openBusForStages(settings, log, {
      runImported: options.runImported,
      clock: options.clock,
      linkHost: host satisfies LinkHost,
    })
    const isSuccessor = lastOwner !== undefined
    if (isSuccessor) succeededAt = clock.now()
    switching.use(bus)
    const running = await runStages(options, bus)
    role = { kind: 'owner', bus, running }
    running.failed.catch(onFailed)
    host.serve()
    if (isSuccessor)
      log.info({ dataFolder }, 'this process runs the stages now: the last one ended')
    await reading?.close()
    reading = undefined
  }

  /** False: no owner answers now. */
  async function linkUp(): Promise<boolean> {
    const link = await kind.link(settings)
    if (link === undefined) return false
    try {
      const welcome = await request<Welcome>(link, helloOf(guards))
      assertSameLog(welcome, settings)
      reading ??= await openReading()
      switching.use(reading)
      await shareContexts(link, contexts())
      lastOwner = { pid: welcome.pid, agents: welcome.agents }
      role = { kind: 'linked', link, owner: lastOwner, beside: { close: async () => {} } }
      role = { ...role, beside: await options.runBeside(reading) }
    } catch (error) {
      role = { kind: 'none' }
      link.close()
      if (isUnreachable(error)) return false
      throw error
    }
    void link.ended.then(() => onEndOf(link))
    return true
  }

  function onEndOf(link: OwnerLink): void {
    if (role.kind !== 'linked' || role.link !== link) return
    const besideEnds = role.beside.close().catch(() => {}) // they start again with the next role
    role = { kind: 'none' }
    onOwnerEnded(besideEnds)
  }

  function openReading(): Promise<Bus> {
    return kind.openLinked(settings, log, (one) => {
      if (role.kind !== 'linked') throw nobody(dataFolder)
      return role.link.request(one)
    })
  }

  function drop(): Role {
    const left = role
    role = { kind: 'none' }
    return left
  }
}

async function runStages(options: FolderRoleOptions, bus: Bus): Promise<Running> {
  const { settings, log } = options
  const { retentionMs, auditMs } = keptBy(settings)
  try {
    await bus.ensureTopics(
      topicSpecs(settings.topicPrefix, settings.partitions, retentionMs, auditMs),
    )
    await joinFleet({ bus, settings, log })
    return await options.runStages(bus)
  } catch (error) {
    await bus.close()
    throw isLocked(error) ? new Error('the stages are locked', { cause: error }) : error
  }
}

async function shareContexts(link: OwnerLink, contexts: Contexts | undefined): Promise<void> {
  for (const { message, value } of contexts?.kept() ?? []) {
    const text = jsonOf(value)
    if (text !== undefined) await request(link, { type: 'keep-context', message, value: text })
  }
}

/** The stages of the owner may still be starting, so it may take a while. */
export async function request<Answer = null>(link: OwnerLink, given: HostRequest): Promise<Answer> {
  return (await link.request(given)) as Answer
}

function assertSameLog({ pid, topicPrefix, partitions }: Welcome, settings: Settings): void {
  const own = { topicPrefix: settings.topicPrefix, partitions: settings.partitions }
  if (topicPrefix === own.topicPrefix && partitions === own.partitions) return
  throw new WeirError(
    'settings.invalid',
    `process ${pid} owns the data folder ${settings.dataFolder} with topicPrefix ${JSON.stringify(topicPrefix)} and ${partitions} partitions, and this process has ${JSON.stringify(own.topicPrefix)} and ${own.partitions}: give both the same`,
  )
}

export function isLocked(error: unknown): boolean {
  return error instanceof WeirError && error.code === 'bus.locked'
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof WeirError && error.code === 'bus.unreachable' && error.retryable
}

export function nobody(dataFolder: string): WeirError {
  return new WeirError(
    'bus.unreachable',
    `no process runs the stages of the data folder ${dataFolder}: start one (weir up), or open it with stages 'auto'`,
    { retryable: true },
  )
}
