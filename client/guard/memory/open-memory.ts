// A guard without a log: a front and the stages of guests on the in-memory player, with the guards of the
// program. No bus, and one timer for deadlines.
// A call of a front is judged before `write` returns, unless it waits for a guard.
// A guard's verdict is a record of the inbox, as an executor copies it from the log.
// So the reducers decide whether it is in time.
// A stage is loaded with its first record, so a guard that judges nothing loads none.

import type { Logger } from 'pino'
import { withGuards } from '../../../services/llm-gateway/performer/guards-in-force.ts'
import { logJudgements } from '../../../services/validator/log-judgements.ts'
import type { Guest } from '../../../shared/agents/guest.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  GuardInForce,
  GuardVerdict,
  Message,
  RoundCleared,
} from '../../../shared/contract/messages.ts'
import type { TopicName } from '../../../shared/contract/topology.ts'
import { keepAlive } from '../../../shared/lib/alive.ts'
import { type Clock, type Milliseconds, systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { WorkLog } from '../../../shared/lib/log/lazy-log.ts'
import { createPlayer } from '../../../shared/runtime/in-memory.ts'
import { createFront } from '../front.ts'
import type { GuardOptions } from '../guard-options.ts'
import {
  conversationOfGuest,
  createThreads,
  type GuestThread,
  type ThreadOptions,
  type ThreadsOptions,
  waitingOf,
} from '../guest-thread.ts'
import {
  activityTypes,
  type FrontLink,
  type GuestActivity,
  type GuestListener,
  openTurns,
  refuseTooMany,
} from '../inbox.ts'

/** Throws as openGuard. */
export async function openInMemory(options: GuardOptions & { agent: Guest }) {
  const { agent, guards, approvals, log: given } = options
  const log = given ?? logWhenNeeded()
  const stages =
    given === undefined ? openMemoryStages({ clock: systemClock, log }) : stagesWith(given)
  const inForce =
    guards === undefined && approvals === undefined
      ? []
      : await startGuards({ guards, approvals, log: given, stages })
  const conversation = frontInMemory(stages, { ...options, agent, inForce, log })
  return { conversation, failed: stages.failed, close: stages.close }
}

/** Stages that log the decisions on calls. */
export function stagesWith(log: Logger): MemoryStages {
  const ofValidator = log.child({ stage: 'validator' })
  const observed = (message: Message) => logJudgements(message, ofValidator)
  return openMemoryStages({ clock: systemClock, log, observed })
}

type FrontOptions = Pick<GuardOptions, 'mode' | 'onUnavailable' | 'answerWithinMs' | 'secrets'> &
  Pick<ThreadsOptions, 'agent' | 'counting' | 'givesOnce' | 'log'> & { inForce: GuardInForce[] }

/** The conversations of one front. */
export function frontInMemory({ link }: MemoryStages, options: FrontOptions) {
  const { agent, inForce, counting, givesOnce, secrets, log } = options
  const rule = ruleOfLog(agent)
  if (rule !== undefined)
    throw new WeirError(
      'settings.invalid',
      `the guest ${agent.name} has ${rule}, which needs a log: give dataFolder or kafka, or remove it`,
    )
  const policy = withGuards(agent.settings.policy, inForce)
  const waiting = waitingOf(options)
  const { blocking } = waiting
  const front = createFront({ link, agent, blocking, secrets, policy: async () => policy })
  const threads = createThreads({ ...waiting, front, counting, givesOnce, agent, log })
  return (id: string, options: ThreadOptions = {}): GuestThread =>
    threads(conversationOfGuest(agent.name, id), options)
}

/** The rule of the guest that no process can keep alone. */
function ruleOfLog({ settings, hints }: Guest): string | undefined {
  if (settings.policy.tree !== null) return 'tree'
  const tools = Object.entries(hints).find(([, { once }]) => once?.within === 'tenant')
  return tools && `once.within: tenant of ${tools[0]}`
}

type Extras = Pick<GuardOptions, 'guards' | 'approvals' | 'log'> & {
  stages: MemoryStages
}

async function startGuards({ guards, approvals, log, stages }: Extras) {
  const { openMemoryGuards } = await import('./memory-guards.ts')
  const { createLog } = await import('../../../shared/lib/log/log.ts')
  const opened = await openMemoryGuards({
    guards,
    approvals,
    clock: systemClock,
    log: log ?? createLog({ level: 'warn', secrets: [] }),
    answered: stages.verdict,
    failed: stages.fail,
  })
  stages.guardedBy(opened)
  return opened.inForce
}

/** Lines of JSON at `warn` and above on standard error. The first line loads the logger. */
function logWhenNeeded(): WorkLog {
  const loaded = async () => {
    const { createLog } = await import('../../../shared/lib/log/log.ts')
    return createLog({ level: 'warn', secrets: [] })
  }
  let loading: ReturnType<typeof loaded> | undefined
  const line = (level: 'warn' | 'error') => (fields: object, text: string) => {
    loading ??= loaded()
    void loading.then((log) => log[level](fields, text))
  }
  return { debug: () => {}, info: () => {}, warn: line('warn'), error: line('error') }
}

/** Guards of this process. */
type Guards = {
  judge(round: RoundCleared, time: Milliseconds): void
  /** Another record of their inbox, by which a guard may learn the end of a call. */
  follow(message: Message, time: Milliseconds): void
  close(): Promise<void>
}

export type MemoryStages = {
  link: FrontLink
  /** From now on. */
  guardedBy(guards: Guards): void
  /** Applies a guard's verdict. */
  verdict(message: GuardVerdict): void
  /** Nothing is judged any more, for this reason. */
  fail(error: unknown): void
  /** Rejects with the first error after which nothing is judged; never resolves. */
  failed: Promise<never>
  close(): Promise<void>
}

export function openMemoryStages({
  clock,
  log,
  observed,
}: {
  clock: Clock
  log: Pick<WorkLog, 'error'>
  /** Receives each message that a stage writes. */
  observed?: ((message: Message) => void) | undefined
}): MemoryStages {
  const listeners = createListeners()
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // it may have no reader: no unhandled denial
  const player = createPlayer({ live: { clock, onWritten } })
  const played = [
    player.addLater(
      'guest',
      loaded(async () => (await import('../../../services/guest/reducer.ts')).guest),
    ),
    player.addLater(
      'validator',
      loaded(async () => (await import('../../../services/validator/reducer.ts')).validator),
    ),
    player.addLater(
      'loop-detector',
      loaded(async () => (await import('../../../services/loop-detector/reducer.ts')).loopDetector),
    ),
    player.addLater(
      'executor',
      loaded(async () => (await import('../../../services/executor/reducer.ts')).executor),
    ),
    player.addLater(
      'approval',
      loaded(async () => (await import('../../../services/approval/reducer.ts')).approval),
    ),
  ]
  const timer = deadlineTimer({
    clock,
    size: () => played.reduce((sum, { units }) => sum + units.size, 0),
    scan() {
      player.tick()
      apply()
    },
  })
  let guards: Guards | undefined
  let settling: Promise<void> | undefined
  let failure: { error: unknown } | undefined

  function onWritten(topic: TopicName, message: Message, { time }: { time: Milliseconds }): void {
    if (topic === 'activity') {
      if (isForFronts(message)) listeners.deliver(message)
    } else if (topic === 'dead-letters' && message.type === 'dead-letter') {
      const { topic, partition, offset, code, reason } = message
      log.error({ topic, partition, offset, code, reason }, 'a record could not be applied')
    } else if (topic === 'guard-verdicts.approval') {
      player.append('rounds-cleared', message)
      guards?.follow(message, time)
    } else if (message.type === 'round-cleared' && guards !== undefined) {
      const { conversation, turn, round, policy } = message
      // A guest's tools have no program that this process knows.
      if (policy.bindsPrograms)
        player.append('rounds-cleared', {
          type: 'programs-hashed',
          conversation,
          turn,
          round,
          programs: [],
        })
      guards.judge(message, time)
    } else if (topic === 'rounds-cleared') guards?.follow(message, time)
    observed?.(message)
  }

  /** Applies all records. A promise if a stage is loaded or a unit is folded again. */
  function settle(): Promise<void> | undefined {
    if (settling !== undefined) return settling
    try {
      const outputs = player.settleSoon()
      if (!(outputs instanceof Promise)) {
        timer.wakeAt(player.nextDue)
        return undefined
      }
      settling = outputs.then(
        () => {
          settling = undefined
          return settle() // records that came after the last step
        },
        (error: unknown) => {
          fail(error)
          throw error
        },
      )
      return settling
    } catch (error) {
      fail(error)
      throw error
    }
  }

  function fail(error: unknown): void {
    if (failure !== undefined) return
    failure = { error }
    timer.stop()
    reject(error)
    listeners.end(error)
  }

  /** For records that no call of a front waits for. `fail` has the error. */
  function apply(): void {
    if (failure !== undefined) return
    try {
      settle()?.catch(() => {})
    } catch {}
  }

  return {
    link: {
      clock,
      turns: openTurns(clock),
      async listen(conversation, listener) {
        if (failure !== undefined) throw failure.error
        return listeners.add(conversation, listener)
      },
      async write(messages) {
        if (failure !== undefined) throw failure.error
        for (const message of messages) player.append('guest-events', message)
        await settle()
      },
    },
    guardedBy(opened) {
      guards = opened
    },
    verdict(message) {
      if (failure !== undefined) return
      player.append('rounds-cleared', message)
      guards?.follow(message, clock.now())
      apply()
    },
    fail,
    failed,
    async close() {
      const error = new WeirError('bus.closed', 'the guard is closed: open it again')
      failure ??= { error }
      timer.stop()
      listeners.end(error)
      await settling?.catch(() => {}) // it may give the guards a round
      await guards?.close()
    },
  }
}

/** Loads a stage. Rejects if a file of Weir is gone, as in an update next to the running process. */
function loaded<Value>(load: () => Promise<Value>): () => Promise<Value> {
  return () =>
    load().catch((error: unknown) => {
      const text = `a stage of Weir could not be loaded: ${error}; restart the process`
      throw new WeirError('runtime.assertion', text, { cause: error })
    })
}

const types: ReadonlySet<string> = new Set(activityTypes)

function isForFronts(message: Message): message is GuestActivity {
  return types.has(message.type)
}

/** The calls of fronts that wait for activity, by conversation. */
function createListeners() {
  const byConversation = new Map<ConversationId, Set<GuestListener>>()
  let listening = 0
  let release = () => {}

  return {
    /** Throws `guests.full`. The process lives for as long as a call waits. */
    add(conversation: ConversationId, listener: GuestListener): () => void {
      refuseTooMany(listening)
      if (listening === 0) release = keepAlive()
      listening += 1
      const some = byConversation.get(conversation) ?? new Set()
      byConversation.set(conversation, some.add(listener))
      return () => {
        if (!some.delete(listener)) return
        listening -= 1
        if (listening === 0) release()
        if (some.size === 0) byConversation.delete(conversation)
      }
    },
    deliver(message: GuestActivity): void {
      for (const { onMessage } of byConversation.get(message.conversation) ?? []) onMessage(message)
    },
    end(error: unknown): void {
      for (const some of byConversation.values()) for (const { onFailure } of some) onFailure(error)
    },
  }
}

/** One timer for the unit that is due first. `scan` finds the units that are due. */
function deadlineTimer({
  clock,
  size,
  scan,
}: {
  clock: Clock
  /** The number of units. */
  size(): number
  scan(): void
}) {
  let next = Number.POSITIVE_INFINITY
  let cancel = () => {}
  let scannedAt = Number.NEGATIVE_INFINITY
  let isStopped = false

  return {
    wakeAt(time: Milliseconds): void {
      if (isStopped || time >= next) return
      cancel()
      next = time
      // A scan takes longer with more units, so more units mean a longer time between scans.
      const apart = scannedAt + size() * limits.tickLookMsPerUnit - clock.monotonic()
      cancel = clock.after(Math.max(time - clock.now(), apart, 0), () => {
        next = Number.POSITIVE_INFINITY
        scannedAt = clock.monotonic()
        scan()
      })
    },
    stop(): void {
      isStopped = true
      cancel()
    },
  }
}
