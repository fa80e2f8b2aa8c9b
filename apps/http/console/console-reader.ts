// Reads the activity and the budgets for the console: all partitions, without a consumer group, so no
// stage is rebalanced and no position is kept.
// CONSOLE-READER-1. It begins one longest turn ago, so each open turn has its beginning. A restart
//     reads the same records and has the same state.
// CONSOLE-READER-2. Derived records that come twice count once, by their writer's mark (R3).
// CONSOLE-READER-3. Memory is bounded by the limits of the folds. A batch ends before the next is
//     read, and other work runs between them.

import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { endsOf } from '../../../client/history/readable-log.ts'
import { firstOffsetSince, leadersApartMs } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Bus, PartitionEnds, StoredRecord } from '../../../shared/contract/bus.ts'
import type { SentMessage } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { isRepeat, type Marks, moveMark, parseId } from '../../../shared/runtime/derived-id.ts'
import { hiddenText } from '../../history/hidden-text.ts'
import { budgetEnds, settledIn } from '../../history/money.ts'
import { addToInbox, beginInbox, shownInbox } from './inbox.ts'
import { addToTurns, beginTurns, shownTurns, turnOf } from './open-turns.ts'
import type { ConsoleState } from './page/console-state.ts'
import { addToRecent, beginRecent, type RecentTurn, recentTurnsOf } from './recent-turns.ts'
import { addSettledToSpend, addToSpend, beginSpend, shownSpend } from './spend.ts'
import { addToStops, beginStops, shownStops } from './stops.ts'

export type ConsoleReader = {
  /** The state now, at most `limits.consolePauseMs` old. */
  state(): Promise<ConsoleState>
  /** The open streams. Their owner counts them. */
  readonly viewers: { count: number }
  /** Grows with each change. */
  readonly version: number
  /** Resolves at a newer version than this one, or after `limits.consoleRefreshMs`. */
  changed(version: number, signal: AbortSignal): Promise<void>
  /** Calls `onRecord` for each record of the conversation, until the result is called. */
  watch(conversation: string, onRecord: () => void): () => void
  /** The messages of the open turns of an agent, or of a conversation. */
  openMessages(where: { agent: string } | { conversation: string }): SentMessage[]
  /** The newest turns of an agent, or of all agents, the newest first. */
  recentTurns(agent: string, max: number): RecentTurn[]
  /** The agents with recent turns. */
  agents(): Set<string>
  close(): Promise<void>
}

const moneyMs = 2 * 3_600_000

type Known = { version: number; at: number; state: Promise<ConsoleState> }
type Options = {
  bus: Bus
  topicPrefix: string
  log: Logger
  /** Called with each record once, with the agent of its turn. */
  onMessage?: (message: Message, about: { agent: string; time: Milliseconds }) => void
}

/** Starts to read. Throws errors of the log. */
export async function openConsoleReader({
  bus,
  topicPrefix,
  log,
  onMessage = () => {},
}: Options): Promise<ConsoleReader> {
  const topic = `${topicPrefix}activity`
  const stop = new AbortController()
  const turns = beginTurns()
  const stops = beginStops()
  const spend = beginSpend()
  const inbox = beginInbox()
  const recent = beginRecent()
  const next = new Map<number, number>()
  const waiting = new Set<() => void>()
  const watchers = new Map<string, Set<() => void>>()
  const viewers = { count: 0 }
  let version = 0
  let newestAt: number | null = null
  let problem: string | null = null

  const partitions = await endsOf({ bus, topicPrefix }, 'activity')
  const budgets = await budgetEnds({ bus, topicPrefix })
  const all = [...partitions.map(read), ...budgets.map(readMoney)]
  const reading = Promise.all(all).catch((error: unknown) => {
    if (stop.signal.aborted) return
    log.error({ err: error }, 'the console cannot read the activity any more')
    problem = 'the console cannot read the activity any more: restart it'
    wake()
  })

  async function read({ partition, begin, end }: PartitionEnds): Promise<void> {
    const since = bus.clock.now() - limits.turnWallMsMax - leadersApartMs
    const from = await firstOffsetSince(bus, { topic, partition, from: begin, to: end }, since)
    const marks: Marks = {}
    next.set(partition, from)
    for await (const records of bus.follow({ topic, partition, from, signal: stop.signal })) {
      for (const record of records) apply(record, marks)
      next.set(partition, (records.at(-1)?.offset ?? from) + 1)
      wake()
      await othersTurn()
    }
  }

  /** The money of the hour that is shown, and of the rounds before it that the hour may name. */
  async function readMoney({ partition, begin, end }: PartitionEnds): Promise<void> {
    const place = { topic: `${topicPrefix}budgets`, partition }
    const since = bus.clock.now() - moneyMs
    const from = await firstOffsetSince(bus, { ...place, from: begin, to: end }, since)
    for await (const records of bus.follow({ ...place, from, signal: stop.signal })) {
      for (const { key, value } of records) {
        const settled = settledIn(key, value)
        if (settled !== undefined) addSettledToSpend(spend, settled)
      }
      wake()
      await othersTurn()
    }
  }

  /** Keeps CONSOLE-READER-2. */
  function apply({ id: given, key, value, time }: StoredRecord, marks: Marks): void {
    for (const onRecord of watchers.get(key) ?? []) onRecord()
    newestAt = Math.max(newestAt ?? 0, time)
    const id = given === undefined ? undefined : parseId(given)
    if (id !== undefined) {
      if (isRepeat(marks, id)) return
      moveMark(marks, id)
    }
    const message = messageOf(value)
    if (message === undefined) return
    const turn = turnOf(turns, message)
    addToStops(stops, message, { turn, time })
    const about = { agent: turn?.agent ?? 'unknown', time }
    addToInbox(inbox, message, about)
    onMessage(message, about)
    addToSpend(spend, message, { turn, time })
    addToTurns(turns, message, time)
    addToRecent(recent, message, time)
  }

  function wake(): void {
    version += 1
    for (const resolve of waiting) resolve()
  }

  let known: Known | undefined

  async function stateAt(now: number): Promise<ConsoleState> {
    const own = {
      ...{ version, turns: shownTurns(turns, now), stops: shownStops(stops, now) },
      spend: shownSpend(spend, now),
    }
    const inboxNow = shownInbox(inbox, now)
    const [left, letters] = await Promise.all([behind(), deadLetters()])
    const hidden = (bus.hidden?.() ?? []).map(hiddenText)
    const health = {
      behind: left,
      deadLetters: letters,
      newestAt,
      problem: problem ?? (hidden.join('. ') || null),
    }
    return { now, ...own, health: { ...health, viewers: viewers.count }, inbox: inboxNow }
  }

  async function behind(): Promise<number> {
    const ends = await endsOf({ bus, topicPrefix }, 'activity')
    return ends.reduce(
      (sum, { partition, begin, end }) => sum + Math.max(0, end - (next.get(partition) ?? begin)),
      0,
    )
  }

  async function deadLetters(): Promise<number> {
    const ends = await endsOf({ bus, topicPrefix }, 'dead-letters')
    return ends.reduce((sum, { begin, end }) => sum + end - begin, 0)
  }

  return {
    get version() {
      return version
    },
    viewers,
    state() {
      const now = bus.clock.now()
      if (known?.version === version && now - known.at < limits.consolePauseMs) return known.state
      known = { version, at: now, state: stateAt(now) }
      return known.state
    },
    async changed(since, signal) {
      if (version > since || signal.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const late = setTimeout(resolve, limits.consoleRefreshMs)
      waiting.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      waiting.delete(resolve)
      clearTimeout(late)
    },
    watch(conversation, onRecord) {
      const some = watchers.get(conversation) ?? new Set()
      watchers.set(conversation, some.add(onRecord))
      return () => {
        some.delete(onRecord)
        if (some.size === 0 && watchers.get(conversation) === some) watchers.delete(conversation)
      }
    },
    openMessages: (where) =>
      [...turns.turns.values()].flatMap(({ agent, conversation, messageId }) =>
        ('agent' in where ? agent === where.agent : conversation === where.conversation)
          ? [{ conversation, messageId }]
          : [],
      ),
    recentTurns: (agent, max) => recentTurnsOf(recent, agent, max),
    agents: () => new Set(recent.map(({ agent }) => agent)),
    async close() {
      stop.abort()
      await reading
    },
  }
}
