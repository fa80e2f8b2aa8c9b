// One of the processes that share a data folder. At any time one of them owns it and runs the
// stages. The others are linked to the owner: they read the file, and the owner writes for them.
// SHARED-FOLDER-1. The end of the owner, also by a kill, ends its links. Then each process tries the
//     lock, and the first one is the next owner.
// SHARED-FOLDER-2. A write is repeated until an owner has acknowledged it, for at most
//     `limits.ownerAwaitedMs`. So a message goes under its id, and a decision counts once.
// SHARED-FOLDER-3. A process that lacks an agent of the last owner tries after the others.
// SHARED-FOLDER-4. If the stages of the owner fail, it leaves the folder to the others.
// SHARED-FOLDER-5. An owner without agents, which only guards agents of other programs, leaves the
//     folder to the first process that has agents.

import type { Logger } from 'pino'
import type { Agent, Agents } from '../shared/agents/agents.ts'
import { keepAlive } from '../shared/bus/embedded/alive.ts'
import type { OwnerLink } from '../shared/bus/embedded/link.ts'
import type { LinkHost } from '../shared/bus/embedded/owner-links.ts'
import type { LocalBus } from '../shared/bus/kind.ts'
import type { Bus } from '../shared/contract/bus.ts'
import type { SentMessage } from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import { type Clock, systemClock as clock, type Milliseconds } from '../shared/lib/clock.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { pause } from '../shared/lib/pause.ts'
import type { Settings } from '../shared/settings/settings.ts'
import { assertOwnerHas, includesAll, type OwnerFacts } from './agent-facts.ts'
import type { Contexts } from './contexts.ts'
import { openBusForStages } from './open-bus.ts'
import { jsonOf } from './plain-json.ts'
import {
  createStageHost,
  type HostRequest,
  helloOf,
  ownerLeaves,
  type Welcome,
} from './stage-host.ts'
import type { StagesChoice } from './stages-choice.ts'
import { createSwitchingBus } from './switching-bus.ts'

type Running = { failed: Promise<never>; close(): Promise<void> }

export type SharedFolderOptions = {
  kind: LocalBus
  settings: Settings
  stages: StagesChoice
  runImported: boolean | undefined
  /** The clock of the log, for tests. Default: the machine's. */
  clock?: Clock | undefined
  agents: Agents
  /** The names of the guards of this process. */
  guards: readonly string[]
  log: Logger
  /** Starts the stages in this process, with its guards. */
  runStages(bus: Bus): Promise<Running>
  /** Starts the guards of this process beside the owner. */
  runBeside(bus: Bus): Promise<{ close(): Promise<void> }>
}

export type SharedFolder = {
  /** Reads and writes in every role. Close it after `stop`: that frees the folder. */
  readonly bus: Bus
  /** Takes a role. Call it once. Throws as Weir.open. */
  join(contexts?: Contexts): Promise<void>
  /**
   * Resolves when the other processes have brought the contexts of their turns from before that
   * time, if this process has just become the owner after another one.
   */
  contextsArrive(time: Milliseconds): Promise<void>
  /**
   * Writes a question, once the owner of the moment has the same agent and the question's context.
   * Throws `agent.unknown`, `agent.differs`, `message.invalid`, `bus.unreachable`.
   */
  send(agent: Agent, message: SentMessage, write: () => Promise<void>): Promise<void>
  /** The turn of this message is over. */
  over(message: SentMessage): void
  /** Rejects when this process cannot go on. Never resolves. */
  readonly failed: Promise<never>
  /** Stops the stages, or the guards beside them, of this process. */
  stop(): Promise<void>
}

type TakeOptions = { openMs?: number; othersMs?: number }

type Role =
  | { kind: 'owner'; bus: Bus; running: Running }
  | { kind: 'linked'; link: OwnerLink; owner: OwnerFacts; beside: { close(): Promise<void> } }
  | { kind: 'none' }

export function createSharedFolder(options: SharedFolderOptions): SharedFolder {
  const { kind, settings, stages, agents, guards, log } = options
  const { topicPrefix, dataFolder } = settings
  const switching = createSwitchingBus({ patiently, close })
  const closing = new AbortController()
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  failed.catch(() => {}) // it may have no reader: no unhandled rejection
  let role: Role = { kind: 'none' }
  let reading: Bus | undefined
  let contexts: Contexts | undefined
  let lastOwner: OwnerFacts | undefined
  /** When this process became the owner after another one; 0: never. */
  let succeededAt = 0
  let taking: Promise<void> | undefined
  let leaving: Promise<unknown> = Promise.resolve()

  /**
   * Tries until this process has a role. `openMs`: how long Weir.open waits for one. `othersMs`: how
   * long it leaves the place to others.
   */
  async function takeRole({ openMs, othersMs = 0 }: TakeOptions = {}): Promise<void> {
    const since = clock.monotonic()
    const lacks = lastOwner !== undefined && !includesAll(agents, lastOwner.agents)
    const notBefore = since + (lacks ? limits.ownerSucceededMs : othersMs) // keeps SHARED-FOLDER-3
    let refused: unknown
    let isPromised = false
    while (!closing.signal.aborted) {
      let isFreed = false
      if (stages !== 'elsewhere' && clock.monotonic() >= notBefore)
        try {
          await own()
          return
        } catch (error) {
          if (!isLocked(error)) throw error
          isFreed = await isLeft()
          isPromised ||= isFreed
          if (stages === 'here' && !isPromised) throw error
          refused = error
        }
      if (!isFreed && stages !== 'here' && (await linkUp())) return
      if (openMs !== undefined && clock.monotonic() - since >= openMs)
        throw refused ?? nobody(dataFolder)
      await pause(clock, limits.ownerTriedAgainMs, closing.signal)
    }
  }

  /** Keeps SHARED-FOLDER-5. True also if the owner ends meanwhile. */
  async function isLeft(): Promise<boolean> {
    if (agents.size === 0) return false
    try {
      return await ownerLeaves(kind, settings)
    } catch (error) {
      // A guard with stages 'here' may have taken the folder between two owners: it ends some day.
      if (isUnreachable(error) || (isLocked(error) && lastOwner !== undefined)) return true
      throw error
    }
  }

  /** Keeps SHARED-FOLDER-5. */
  function leave(): boolean {
    if (stages === 'here') throw guardsAlone(dataFolder)
    if (role.kind !== 'owner' || closing.signal.aborted) return true // stop closes them
    const { bus, running } = role
    role = { kind: 'none' }
    taking = handOver(bus, running).catch(fail)
    return true
  }

  async function handOver(bus: Bus, running: Running): Promise<void> {
    await running.close()
    reading = await kind.openLinked(settings, log, (one) => linked().link.request(one))
    switching.use(reading)
    await bus.close()
    log.info({ dataFolder }, 'this process leaves the folder to one that runs agents')
    await takeRole({ othersMs: limits.ownerSucceededMs })
  }

  async function own(): Promise<void> {
    const host = createStageHost({
      ...{ agents, guards, topicPrefix, partitions: settings.partitions },
      keep: (message, value) => contexts?.keep(message, value) ?? (() => {}),
      leave: agents.size === 0 ? leave : undefined,
    })
    const bus = await openBusForStages(settings, log, {
      runImported: options.runImported,
      clock: options.clock,
      linkHost: host satisfies LinkHost,
    })
    const isSuccessor = lastOwner !== undefined
    if (isSuccessor) succeededAt = clock.now()
    switching.use(bus)
    try {
      const running = await options.runStages(bus)
      role = { kind: 'owner', bus, running }
      running.failed.catch((error: unknown) => {
        fail(error)
        void stop()
          .then(close, close)
          .catch(() => {}) // keeps SHARED-FOLDER-4
      })
    } catch (error) {
      await bus.close()
      throw isLocked(error) ? new Error('the stages are locked', { cause: error }) : error
    }
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
      reading ??= await kind.openLinked(settings, log, (one) => linked().link.request(one))
      switching.use(reading)
      for (const { message, value } of contexts?.kept() ?? []) {
        const text = jsonOf(value)
        if (text !== undefined) await request(link, { type: 'keep-context', message, value: text })
      }
      lastOwner = { pid: welcome.pid, agents: welcome.agents }
      const nothing = { close: async () => {} }
      role = { kind: 'linked', link, owner: lastOwner, beside: nothing }
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
    leaving = role.beside.close().catch(() => {}) // they start again with the next role
    role = { kind: 'none' }
    // keeps SHARED-FOLDER-5
    const othersMs = agents.size === 0 ? limits.guestsOwnAfterMs : 0
    if (!closing.signal.aborted) taking = takeRole({ othersMs }).catch(fail)
  }

  function linked(): Role & { kind: 'linked' } {
    if (role.kind === 'linked') return role
    throw nobody(dataFolder)
  }

  /** Keeps SHARED-FOLDER-2. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    for (const until = clock.monotonic() + limits.ownerAwaitedMs; ; ) {
      try {
        if (role.kind === 'none') throw nobody(dataFolder)
        return await work()
      } catch (error) {
        const isOver = closing.signal.aborted || clock.monotonic() >= until
        if (isOver || !isUnreachable(error)) throw error
      }
      await pause(clock, limits.ownerTriedAgainMs, closing.signal)
    }
  }

  async function shareContext(link: OwnerLink, message: SentMessage): Promise<void> {
    const kept = contexts?.kept().find((one) => isSame(one.message, message))
    if (kept === undefined) return
    const value = jsonOf(kept.value)
    if (value === undefined) throw foreignContext(dataFolder)
    await request(link, { type: 'keep-context', message, value })
  }

  async function stop(): Promise<void> {
    closing.abort()
    await taking
    await leaving
    if (role.kind === 'linked') await role.beside.close()
    if (role.kind === 'owner') await role.running.close()
  }

  async function close(): Promise<void> {
    const left = role
    role = { kind: 'none' }
    if (left.kind === 'linked') left.link.close()
    try {
      if (left.kind === 'owner') await left.bus.close()
    } finally {
      await reading?.close()
    }
  }

  return {
    bus: switching.bus,
    failed,

    async contextsArrive(time) {
      const leftMs = succeededAt + limits.ownerContextMs - clock.now()
      if (time <= succeededAt && leftMs > 0) await pause(clock, leftMs, closing.signal)
    },

    async join(own) {
      contexts = own
      const letDie = keepAlive()
      try {
        await takeRole({ openMs: limits.ownerStartMs })
      } finally {
        letDie()
      }
    },

    send: (agent, message, write) =>
      patiently(async () => {
        if (role.kind === 'linked') {
          const { owner, link } = role
          assertOwnerHas(agent, owner, { dataFolder, declarationsOnly: stages === 'elsewhere' })
          await shareContext(link, message)
        }
        await write()
      }),

    over(message) {
      if (role.kind === 'linked')
        void request(role.link, { type: 'drop-context', message }).catch(() => {})
    },

    stop,
  }
}

/** The stages of the owner may still be starting, so it may take a while. */
async function request<Answer = null>(link: OwnerLink, given: HostRequest): Promise<Answer> {
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

function isSame(a: SentMessage, b: SentMessage): boolean {
  return a.conversation === b.conversation && a.messageId === b.messageId
}

function isLocked(error: unknown): boolean {
  return error instanceof WeirError && error.code === 'bus.locked'
}

function isUnreachable(error: unknown): boolean {
  return error instanceof WeirError && error.code === 'bus.unreachable' && error.retryable
}

function nobody(dataFolder: string): WeirError {
  return new WeirError(
    'bus.unreachable',
    `no process runs the stages of the data folder ${dataFolder}: start one (weir up), or open it with stages 'auto'`,
    { retryable: true },
  )
}

function guardsAlone(dataFolder: string): WeirError {
  return new WeirError(
    'bus.locked',
    `process ${process.pid} guards agents with the data folder ${dataFolder} and has it alone: open that guard with stages 'auto', or give one of the two another data folder`,
  )
}

function foreignContext(dataFolder: string): WeirError {
  return new WeirError(
    'message.invalid',
    `another process runs the tools of ${dataFolder}, and the context of this question holds a value that JSON does not have, such as a function, a date or a connection: give plain values, and let the tools make the rest of them`,
  )
}
