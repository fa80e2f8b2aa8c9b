// One of the processes that share a data folder. At any time one of them owns it and runs the
// stages. The others are linked to the owner: they read the file, and the owner writes for them.
// The end of the owner, also by a kill, ends its links. Then each process tries the
// lock, and the first one is the next owner.
// A write is repeated until an owner has acknowledged it, for at most
// `limits.ownerAwaitedMs`. So a message goes under its id, and a decision counts once.
// A process that lacks an agent of the last owner tries after the others.
// If the stages of the owner fail, it leaves the folder to the others.
// An owner without agents, which only guards agents of other programs, leaves the
// folder to the first process that has agents.

import type { Agent } from '../../shared/agents/agents.ts'
import type { OwnerLink } from '../../shared/bus/embedded/beside/link.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { SentMessage } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { keepAlive } from '../../shared/lib/alive.ts'
import { systemClock as clock, type Milliseconds } from '../../shared/lib/clock.ts'
import { messageError, WeirError } from '../../shared/lib/errors.ts'
import { pause } from '../../shared/lib/pause.ts'
import type { Contexts } from '../agents/contexts.ts'
import { jsonOf } from '../plain-json.ts'
import { assertOwnerHas, includesAll } from './agent-facts.ts'
import {
  createFolderRole,
  type FolderRole,
  type FolderRoleOptions,
  isLocked,
  isUnreachable,
  nobody,
  request,
} from './folder-role.ts'
import { ownerLeaves } from './stage-host.ts'
import type { StagesChoice } from './stages-choice.ts'
import { createSwitchingBus } from './switching-bus.ts'

/** How long Weir.open waits for an owner that is starting or ending. */
const ownerStartMs = 15_000
/**
 * How long a process that lacks an agent of the last owner leaves the place to others. How long
 * the new owner waits for the contexts of other processes.
 */
const ownerSucceededMs = 2_000
const ownerContextMs = 1_000
/** How long a process that only guards agents leaves the place of an ended owner to others. */
const guestsOwnAfterMs = 300

export type SharedFolderOptions = FolderRoleOptions & { stages: StagesChoice }

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
  /** Stops the stages, or the guards next to them, of this process. */
  stop(): Promise<void>
}

/** `openMs`: how long Weir.open waits for a role. `othersMs`: how long others go first. */
type TakeOptions = { openMs?: number; othersMs?: number }

export function createSharedFolder(options: SharedFolderOptions): SharedFolder {
  const { stages, agents } = options
  const { dataFolder } = options.settings
  const closing = new AbortController()
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  failed.catch(() => {}) // it may have no reader: no unhandled denial
  const switching = createSwitchingBus({ patiently, close: () => role.close() })
  const role = createFolderRole(options, switching, {
    contexts: () => contexts,
    leave: agents.size === 0 ? leave : undefined,
    onFailed(error) {
      fail(error)
      void stop()
        .then(role.close, role.close)
        .catch(() => {})
    },
    onOwnerEnded(besideEnds) {
      leaving = besideEnds
      const othersMs = agents.size === 0 ? guestsOwnAfterMs : 0
      if (!closing.signal.aborted) taking = takeRole({ othersMs }).catch(fail)
    },
  })
  let contexts: Contexts | undefined
  let taking: Promise<void> | undefined
  let leaving: Promise<unknown> = Promise.resolve()

  return {
    bus: switching.bus,
    failed,

    async contextsArrive(time) {
      const leftMs = role.succeededAt + ownerContextMs - clock.now()
      if (time <= role.succeededAt && leftMs > 0) await pause(clock, leftMs, closing.signal)
    },

    async join(own) {
      contexts = own
      const letDie = keepAlive()
      try {
        await takeRole({ openMs: ownerStartMs })
      } finally {
        letDie()
      }
    },

    send: (agent, message, write) =>
      patiently(async () => {
        const { now } = role
        if (now.kind === 'linked') {
          const declarationsOnly = stages === 'elsewhere'
          assertOwnerHas(agent, now.owner, { dataFolder, declarationsOnly })
          await shareContext(now.link, message, contexts, dataFolder)
        }
        await write()
      }),

    over(message) {
      if (role.now.kind === 'linked')
        void request(role.now.link, { type: 'drop-context', message }).catch(() => {})
    },

    stop,
  }

  /** Tries until this process has a role. */
  async function takeRole({ openMs, othersMs = 0 }: TakeOptions = {}): Promise<void> {
    const since = clock.monotonic()
    const lacks = role.lastOwner !== undefined && !includesAll(agents, role.lastOwner.agents)
    const notBefore = since + (lacks ? ownerSucceededMs : othersMs)
    let refused: unknown
    let isPromised = false
    while (!closing.signal.aborted) {
      let isFreed = false
      if (stages !== 'elsewhere' && clock.monotonic() >= notBefore)
        try {
          await role.own()
          return
        } catch (error) {
          if (!isLocked(error)) throw error
          isFreed = agents.size > 0 && (await isLeft(options, role))
          isPromised ||= isFreed
          if (stages === 'here' && !isPromised) throw error
          refused = error
        }
      if (!isFreed && stages !== 'here' && (await role.linkUp())) return
      if (openMs !== undefined && clock.monotonic() - since >= openMs)
        throw refused ?? nobody(dataFolder)
      await pause(clock, limits.ownerTriedAgainMs, closing.signal)
    }
  }

  function leave(): boolean {
    if (stages === 'here') throw guardsAlone(dataFolder)
    if (role.now.kind !== 'owner' || closing.signal.aborted) return true // stop closes them
    taking = role
      .handOver()
      .then(() => takeRole({ othersMs: ownerSucceededMs }))
      .catch(fail)
    return true
  }

  function patiently<T>(work: () => Promise<T>): Promise<T> {
    return untilReachable(closing.signal, () => {
      if (role.now.kind === 'none') throw nobody(dataFolder)
      return work()
    })
  }

  async function stop(): Promise<void> {
    closing.abort()
    await taking
    await leaving
    if (role.now.kind === 'linked') await role.now.beside.close()
    if (role.now.kind === 'owner') await role.now.running.close()
  }
}

/** True also if the owner ends meanwhile. */
async function isLeft(
  { kind, settings }: SharedFolderOptions,
  { lastOwner }: FolderRole,
): Promise<boolean> {
  try {
    return await ownerLeaves(kind, settings)
  } catch (error) {
    // A guard with stages 'here' may have taken the folder between two owners: it ends some day.
    if (isUnreachable(error) || (isLocked(error) && lastOwner !== undefined)) return true
    throw error
  }
}

async function untilReachable<T>(closing: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const until = clock.monotonic() + limits.ownerAwaitedMs; ; ) {
    try {
      return await work()
    } catch (error) {
      const isOver = closing.aborted || clock.monotonic() >= until
      if (isOver || !isUnreachable(error)) throw error
    }
    await pause(clock, limits.ownerTriedAgainMs, closing)
  }
}

async function shareContext(
  link: OwnerLink,
  message: SentMessage,
  contexts: Contexts | undefined,
  dataFolder: string,
): Promise<void> {
  const kept = contexts?.kept().find((one) => isSame(one.message, message))
  if (kept === undefined) return
  const value = jsonOf(kept.value)
  if (value === undefined) throw foreignContext(dataFolder)
  await request(link, { type: 'keep-context', message, value })
}

function isSame(a: SentMessage, b: SentMessage): boolean {
  return a.conversation === b.conversation && a.messageId === b.messageId
}

function guardsAlone(dataFolder: string): WeirError {
  return new WeirError(
    'bus.locked',
    `process ${process.pid} guards agents with the data folder ${dataFolder} and has it alone: open that guard with stages 'auto', or give one of the two another data folder`,
  )
}

function foreignContext(dataFolder: string): WeirError {
  return messageError(
    `another process runs the tools of ${dataFolder}, and the context of this question holds a value that JSON does not have, such as a function, a date or a connection: give plain values, and let the tools make the rest of them`,
  )
}
