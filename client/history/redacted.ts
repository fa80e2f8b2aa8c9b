// Records of a log as its readers see them: by the rules of the agents that the records are of.
// The rules of all turns of a conversation hide values in all of its records.
// A record shown alone has no text if the log no longer has the rules of its turn, or if the
// record is not enough to find the values.

import { letterCodec, messageOf } from '../../shared/codec/message-of.ts'
import { roundKey } from '../../shared/contract/ids.ts'
import type { Message, MessageType, Part, RedactRule } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { inboxOf } from '../../shared/contract/topology.ts'
import {
  distinctRules,
  redactedActivity,
  redactionRules,
  rulesIn,
} from '../../shared/runtime/redaction/agent-redaction.ts'
import { toolsIn } from '../../shared/runtime/redaction/record-texts.ts'
import { createRedaction } from '../../shared/runtime/redaction/redaction.ts'
import type { ReadableLog } from './readable-log.ts'

type Read = { message: Message | undefined }

/** All records of one conversation, in the order of each topic. */
export function redactedRecords<R extends Read>(records: readonly R[]): R[] {
  const rules = distinctRules(
    records.flatMap(({ message }) => (message === undefined ? [] : rulesIn(message))),
  )
  if (rules.length === 0) return [...records]
  const redaction = createRedaction(redactionRules(rules, 'word'), {
    keepsIds: true,
    letters: letterCodec,
  })
  const streams = Map.groupBy(records.filter(isPart), ({ message }) => roundKey(message))
  for (const { message } of records)
    if (message !== undefined && message.type !== 'part') redaction.learn(message)
  for (const stream of streams.values()) redaction.learnParts(stream.map(({ message }) => message))
  const shown = new Map<Read, Message>()
  for (const stream of streams.values())
    for (const [at, part] of redaction.redactParts(stream.map(({ message }) => message)).entries())
      shown.set(stream[at] as Read, part)
  return records.map((record) => {
    const { message } = record
    if (message === undefined) return record
    return { ...record, message: shown.get(record) ?? redaction.redact(message) }
  })
}

function isPart<R extends Read>(record: R): record is R & { message: Part } {
  return record.message?.type === 'part'
}

/** One record at a time, as `weir tail` and traces show them. */
export type RecordView = (message: Message) => Promise<Message | undefined>

/** No class of values, so it hides each text. */
const allText: RedactRule = { name: 'redacted', pattern: null, path: null }
const turnsMax = 10_000

/** `unredacted` of the log: as they are. */
export function recordView(log: Omit<ReadableLog, 'progress' | 'hasIndex'>): RecordView {
  const known = new Map<string, readonly RedactRule[]>()

  async function rulesOf(message: Message): Promise<readonly RedactRule[]> {
    const inside = message.type === 'dead-letter' ? messageOf(message.value) : undefined
    if (inside !== undefined) return rulesOf(inside)
    const own = rulesIn(message)
    if (own.length > 0 || carriesRules(message)) return own
    const { conversation, turn } = message as { conversation?: string; turn?: number | null }
    if (conversation === undefined || typeof turn !== 'number') return []
    const key = JSON.stringify([conversation, turn])
    const found = known.get(key) ?? (await rulesOfTurn(conversation, turn))
    if (known.size >= turnsMax) known.clear()
    known.set(key, found)
    return found
  }

  /** A turn's number is the offset of the record that opened it. */
  async function rulesOfTurn(conversation: string, turn: number): Promise<readonly RedactRule[]> {
    const [record] = await log.bus.read({
      topic: log.topicPrefix + inboxOf(conversation),
      from: turn,
      to: turn + 1,
      partition: partitionOf(conversation, log.partitions),
      limit: 1,
      bytesMax: 1,
    })
    const opened = record?.offset === turn ? messageOf(record.value) : undefined
    return opened === undefined ? [allText] : rulesIn(opened)
  }

  return async (message) => {
    if (log.unredacted === true || writtenRedacted.has(message.type)) return message
    const rules = await rulesOf(message)
    if (rules.length === 0) return message
    return redactedActivity(message, canBeFound(rules, message) ? rules : [allText])
  }
}

/** Records of `activity` that were redacted before they were written. */
const writtenRedacted: ReadonlySet<MessageType> = new Set([
  ...(['call-finished', 'call-denied', 'intervention-raised'] as const),
  ...(['guard-verdict-given', 'model-retry'] as const),
])

/**
 * Whether the record alone is enough to find the values. They can be split between parts, and the
 * values of arguments are known only next to the arguments.
 */
function canBeFound(rules: readonly RedactRule[], message: Message): boolean {
  if (message.type === 'part') return false
  return toolsIn(message).size > 0 || !rules.some(({ path }) => path?.startsWith('arguments.'))
}

/** Whether its rules, also none, are all that count. */
function carriesRules(message: Message): boolean {
  return 'policy' in message || 'settings' in message || message.type === 'carried'
}
