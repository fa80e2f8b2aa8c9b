// Reads the history of each of the newest conversations. Uses the index of the bus if there is one.
// Otherwise it reads the partitions once, for all conversations together.
// A message may repeat an argument or a result of its conversation. So a question is
// redacted after all entries of the conversation were read, by all of their rules.

import { letterCodec, messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import {
  historyConversation,
  historyPrefix,
  titledConversation,
} from '../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { HistoryEntry, RedactRule, Usage } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { isGuest } from '../../shared/contract/topology.ts'
import { distinctRules, redactionRules } from '../../shared/runtime/redaction/agent-redaction.ts'
import { createRedaction, type Redaction } from '../../shared/runtime/redaction/redaction.ts'
import { withoutReminders } from '../guard/history/reminders.ts'
import { contextIn } from './context-turns.ts'
import { firstWords } from './first-words.ts'
import { newestIds } from './newest-records.ts'
import type { ReadableLog } from './readable-log.ts'
import { scan } from './scan.ts'

/** The part of a history entry that the list needs. `question`: the first words of round 0. */
export type RoundUsage = Pick<HistoryEntry, 'turn' | 'round'> & {
  usage: Usage | undefined
  question: string | undefined
}

/** `rounds`: each round once. `title`: the one that was given. Undefined also if rules hide values. */
export type History = { rounds: Iterable<RoundUsage>; title: string | undefined }

/** Undefined: the conversation became active after the read began. */
export type Histories = (conversation: ConversationId) => Promise<History | undefined>

/** Without an index, memory is a few numbers per round of the `max` newest conversations. */
export async function historiesOf(log: ReadableLog, max: number): Promise<Histories> {
  if (!log.hasIndex) return historiesRead(log, await newestIds(log, max))
  return async (conversation) => {
    const partition = partitionOf(conversation, log.partitions)
    const records = await log.bus.list({
      topic: `${log.topicPrefix}history`,
      partition,
      prefix: historyPrefix(conversation),
    })
    const isContext = contextIn(conversation, log.bundle)
    const entries = records.flatMap((record) => entryOf(record) ?? [])
    const redaction = redactionOf(distinctRules(entries.flatMap(({ redact }) => redact)), log)
    for (const entry of entries) redaction?.learn(entry)
    const rounds = entries
      .filter(({ turn }) => !isContext(turn))
      .map((entry) => usageOf(entry, redaction))
    const title = redaction === undefined ? titleAmong(records) : undefined
    return { rounds, title }
  }
}

/** `rounds`: by the keys of their records. */
type Found = { rounds: Map<string, RoundUsage>; rules: RedactRule[]; title: string | undefined }

async function historiesRead(log: ReadableLog, ids: string[]): Promise<Histories> {
  const found = new Map(
    ids.map((id): [string, Found] => [id, { rounds: new Map(), rules: [], title: undefined }]),
  )
  for await (const { key, conversation, entry, value } of entriesIn(log, ids)) {
    const one = found.get(conversation)
    if (one !== undefined && titledConversation(key) !== undefined) one.title = titleIn(value)
    else if (entry === undefined) one?.rounds.delete(key)
    else one?.rounds.set(key, usageOf(entry, undefined))
    if (one !== undefined && entry !== undefined)
      one.rules = distinctRules([...one.rules, ...entry.redact])
  }
  await redactQuestions(log, found)
  return async (conversation) => {
    const one = found.get(conversation)
    if (one === undefined) return undefined
    const isShown = redactionOf(one.rules, log) === undefined
    return { rounds: one.rounds.values(), title: isShown ? one.title : undefined }
  }
}

/** Hides values of questions by a second read, only of conversations with rules. */
async function redactQuestions(log: ReadableLog, found: Map<string, Found>): Promise<void> {
  const asked = new Map<string, { redaction: Redaction; first?: [string, HistoryEntry] }>()
  for (const [id, { rules }] of found) {
    const redaction = redactionOf(rules, log)
    if (redaction !== undefined) asked.set(id, { redaction })
  }
  for await (const { key, conversation, entry } of entriesIn(log, [...asked.keys()])) {
    const one = asked.get(conversation)
    if (one === undefined || entry === undefined) continue
    one.redaction.learn(entry)
    const isLeft = entry.user !== null && found.get(conversation)?.rounds.has(key) === true
    if (isLeft && entry.turn <= (one.first?.[1].turn ?? entry.turn)) one.first = [key, entry]
  }
  for (const [id, { redaction, first }] of asked) {
    const rounds = found.get(id)?.rounds ?? new Map<string, RoundUsage>()
    for (const round of rounds.values()) round.question = undefined
    if (first !== undefined) rounds.set(first[0], usageOf(first[1], redaction))
  }
}

/** The entries of these conversations. `entry` undefined: deleted, or unreadable. */
async function* entriesIn(log: ReadableLog, ids: readonly string[]) {
  const wanted = new Set(ids)
  for (const partition of new Set(ids.map((id) => partitionOf(id, log.partitions))))
    for await (const records of scan(log, { topic: 'history', partition }))
      for (const record of records) {
        const conversation = historyConversation(record.key) ?? ''
        if (wanted.has(conversation))
          yield { key: record.key, conversation, entry: entryOf(record), value: record.value }
      }
}

/** The title of the record under `titleKey`. Undefined: none. */
export function titleIn(value: Uint8Array | null): string | undefined {
  const message = messageOf(value)
  return message?.type === 'conversation-titled' ? message.title : undefined
}

function titleAmong(records: readonly StoredRecord[]): string | undefined {
  const [title] = records.flatMap(({ value }) => titleIn(value) ?? [])
  return title
}

function entryOf({ value }: StoredRecord): HistoryEntry | undefined {
  const entry = messageOf(value)
  return entry?.type === 'history-entry' ? entry : undefined
}

/** Undefined: nothing is hidden. */
function redactionOf(
  rules: readonly RedactRule[],
  { unredacted }: Pick<ReadableLog, 'unredacted'>,
): Redaction | undefined {
  if (unredacted === true || rules.length === 0) return undefined
  return createRedaction(redactionRules(rules, 'word'), { keepsIds: true, letters: letterCodec })
}

function usageOf(entry: HistoryEntry, redaction: Redaction | undefined): RoundUsage {
  const { conversation, turn, round, response } = entry
  const shown = entry.user === null ? entry : (redaction?.redact(entry) ?? entry)
  const { user } = shown as HistoryEntry
  return {
    turn,
    round,
    usage: response?.usage,
    question: user === null ? undefined : questionIn(conversation, user),
  }
}

/** The first words of a message. A guest's client may have put its own blocks before them. */
export function questionIn(conversation: ConversationId, text: string): string {
  return firstWords((isGuest(conversation) && withoutReminders(text)) || text)
}
