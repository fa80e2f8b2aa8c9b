// Reads the activity and the budgets for the console: all partitions, without a consumer group, so no
// stage is rebalanced and no position is kept.
// It begins one longest turn ago, so each open turn has its beginning. A restart
// reads the same records and has the same state.
// Derived records that come twice count once, by their writer's mark (R3).
// Memory is bounded by the limits of the folds. A batch ends before the next is
// read, and other work runs between them.

import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { endsOf } from '../../../../client/history/readable-log.ts'
import { firstOffsetSince, leadersApartMs } from '../../../../shared/bus/range.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import type { Bus, PartitionEnds, StoredRecord } from '../../../../shared/contract/bus.ts'
import type { SentMessage } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { isRepeat, type Marks, moveMark, parseId } from '../../../../shared/runtime/derived-id.ts'
import { hiddenText } from '../../../history/hidden-text.ts'
import { budgetEnds, settledIn } from '../../../history/money.ts'
import type { ConsoleState } from '../page/console-state.ts'
import { addToInbox, beginInbox, shownInbox } from './inbox.ts'
import { addToTurns, beginTurns, shownTurns, turnOf } from './open-turns.ts'
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
  const stop = new AbortController()
  const folds = beginFolds()
  const changes = createChanges()
  const next = new Map<number, number>()
  const watchers: Watchers = new Map()
  const viewers = { count: 0 }
  let newestAt: number | null = null
  let problem: string | null = null
  let known: Known | undefined

  const activityMs = limits.turnWallMsMax + leadersApartMs
  const partitions = await endsOf({ bus, topicPrefix }, 'activity')
  const budgets = await budgetEnds({ bus, topicPrefix })
  const all = [
    ...partitions.map((ends) => {
      const marks: Marks = {}
      return follow('activity', ends, activityMs, (record) => apply(record, marks), next)
    }),
    // The money of the hour that is shown, and of the rounds before it that the hour may name.
    ...budgets.map((ends) => follow('budgets', ends, moneyMs, applySettled)),
  ]
  const reading = Promise.all(all).catch((error: unknown) => {
    if (stop.signal.aborted) return
    log.error({ err: error }, 'the console cannot read the activity any more')
    problem = 'the console cannot read the activity any more: restart it'
    changes.wake()
  })

  async function follow(
    name: 'activity' | 'budgets',
    { partition, begin, end }: PartitionEnds,
    ageMs: Milliseconds,
    onRecord: (record: StoredRecord) => void,
    positions?: Map<number, number>,
  ): Promise<void> {
    const place = { topic: `${topicPrefix}${name}`, partition }
    const since = bus.clock.now() - ageMs
    const from = await firstOffsetSince(bus, { ...place, from: begin, to: end }, since)
    positions?.set(partition, from)
    for await (const records of bus.follow({ ...place, from, signal: stop.signal })) {
      for (const record of records) onRecord(record)
      positions?.set(partition, (records.at(-1)?.offset ?? from) + 1)
      changes.wake()
      await othersTurn()
    }
  }

  function apply({ id: given, key, value, time }: StoredRecord, marks: Marks): void {
    for (const onRecord of watchers.get(key) ?? []) onRecord()
    newestAt = Math.max(newestAt ?? 0, time)
    const id = parseId(given)
    if (id !== undefined) {
      if (isRepeat(marks, id)) return
      moveMark(marks, id)
    }
    const message = messageOf(value)
    if (message !== undefined) addToFolds(folds, message, time, onMessage)
  }

  function applySettled({ key, value }: StoredRecord): void {
    const settled = settledIn(key, value)
    if (settled !== undefined) addSettledToSpend(folds.spend, settled)
  }

  async function stateAt(now: number): Promise<ConsoleState> {
    const own = {
      version: changes.version,
      turns: shownTurns(folds.turns, now),
      stops: shownStops(folds.stops, now),
      spend: shownSpend(folds.spend, now),
    }
    const inbox = shownInbox(folds.inbox, now)
    const unread = await unreadIn({ bus, topicPrefix }, next)
    const hidden = (bus.hidden?.() ?? []).map(hiddenText)
    const health = { ...unread, newestAt, problem: problem ?? (hidden.join('. ') || null) }
    return { now, ...own, health: { ...health, viewers: viewers.count }, inbox }
  }

  return {
    get version() {
      return changes.version
    },
    viewers,
    state() {
      const now = bus.clock.now()
      const { version } = changes
      if (known?.version === version && now - known.at < limits.consolePauseMs) return known.state
      known = { version, at: now, state: stateAt(now) }
      return known.state
    },
    changed: changes.changed,
    watch: (conversation, onRecord) => watchIn(watchers, conversation, onRecord),
    openMessages: (where) =>
      [...folds.turns.turns.values()].flatMap(
        ({ agent, conversation, view: { messageId = '' } }) =>
          ('agent' in where ? agent === where.agent : conversation === where.conversation)
            ? [{ conversation, messageId }]
            : [],
      ),
    recentTurns: (agent, max) => recentTurnsOf(folds.recent, agent, max),
    agents: () => new Set(folds.recent.map(({ agent }) => agent)),
    async close() {
      stop.abort()
      await reading
    },
  }
}

function beginFolds() {
  return {
    turns: beginTurns(),
    stops: beginStops(),
    spend: beginSpend(),
    inbox: beginInbox(),
    recent: beginRecent(),
  }
}

function addToFolds(
  { turns, stops, spend, inbox, recent }: ReturnType<typeof beginFolds>,
  message: Message,
  time: Milliseconds,
  onMessage: Required<Options>['onMessage'],
): void {
  const turn = turnOf(turns, message)
  const about = { agent: turn?.agent ?? 'unknown', time }
  addToStops(stops, message, { turn, time })
  addToInbox(inbox, message, about)
  onMessage(message, about)
  addToSpend(spend, message, { turn, time })
  addToTurns(turns, message, time)
  addToRecent(recent, message, time)
}

/** The version of the state, and the streams that wait for a newer one. */
function createChanges() {
  const waiting = new Set<() => void>()
  let version = 0
  return {
    get version() {
      return version
    },
    wake() {
      version += 1
      for (const resolve of waiting) resolve()
    },
    async changed(since: number, signal: AbortSignal): Promise<void> {
      if (version > since || signal.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const late = setTimeout(resolve, limits.consoleRefreshMs)
      waiting.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      waiting.delete(resolve)
      clearTimeout(late)
    },
  }
}

type Watchers = Map<string, Set<() => void>>

function watchIn(watchers: Watchers, conversation: string, onRecord: () => void): () => void {
  const some = watchers.get(conversation) ?? new Set()
  watchers.set(conversation, some.add(onRecord))
  return () => {
    some.delete(onRecord)
    if (some.size === 0 && watchers.get(conversation) === some) watchers.delete(conversation)
  }
}

/** `next`: by partition of the activity, the next offset. */
async function unreadIn(
  log: Pick<Options, 'bus' | 'topicPrefix'>,
  next: ReadonlyMap<number, number>,
): Promise<{ behind: number; deadLetters: number }> {
  const [activity, letters] = await Promise.all([
    endsOf(log, 'activity'),
    endsOf(log, 'dead-letters'),
  ])
  const behind = activity.map(({ partition, begin, end }) =>
    Math.max(0, end - (next.get(partition) ?? begin)),
  )
  const deadLetters = letters.map(({ begin, end }) => end - begin)
  return { behind: sum(behind), deadLetters: sum(deadLetters) }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
