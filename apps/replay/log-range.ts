// The range of a replay: the first and last offset of each topic and partition, and the units whose
// beginnings it has.
// An inbox is read up to its end at the start, or to --until. Output topics are read
// further, as far as stages may have written meanwhile.
// A unit is judged only if its beginning is in the range. Otherwise it would be a
// false difference. A complete log is judged as a whole.

import { endsOf } from '../../client/history/readable-log.ts'
import { firstOffsetSince, leadersApartMs } from '../../shared/bus/range.ts'
import type { Bus, Offset, PartitionEnds } from '../../shared/contract/bus.ts'
import type { ConversationId, TurnId } from '../../shared/contract/ids.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { inboxOf, stages, type TopicName, topics } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

/**
 * A log without the means to write. `turns`: whether all records of the turn are there. Only a
 * bundle, and a log made of one, has it.
 */
export type ReadLog = {
  bus: Pick<Bus, 'ends' | 'read'>
  topicPrefix: string
  partitions: number
  turns?: ((partition: number, turn: TurnId) => boolean) | undefined
  /** The offset in the inbox from which on an imported log has its own records. */
  beginsAnewAt?: ((name: TopicName, partition: number) => Offset) | undefined
  /** Records before the begin were left out with their turns, not deleted. */
  isBundle?: boolean
}

export type Period = { since: Milliseconds | undefined; until: Milliseconds | undefined }

/**
 * `to`: the end of the inbox. `seenTo`: the end of reading for other writers' records. `gone`: all
 * records were deleted. `anewAt`: its stage folds from this offset on without earlier records. 0: from
 * the first.
 */
export type TopicRange = {
  name: TopicName
  topic: string
  partition: number
  from: Offset
  to: Offset
  seenTo: Offset
  gone: boolean
  anewAt: Offset
}

export type PartitionRange = {
  partition: number
  topics: TopicRange[]
  /** Whether the beginning of a turn is there. Undefined: the log is whole. */
  hasTurn: ((turn: TurnId) => boolean) | undefined
  /** The time of the newest record of an inbox. 0: there is none. */
  newest: Milliseconds
}

/** Topics that a reducer reads or writes. It decides nothing by the others, such as policies. */
const replayedTopics = [
  ...new Set(Object.values(stages).flatMap(({ inbox, ports }) => [inbox, ...Object.values(ports)])),
] as TopicName[]

/** A turn's number is an offset in one of them. */
const turnInboxes: readonly TopicName[] = [stages.conversation.inbox, stages.guest.inbox]

/** The partitions of these conversations. Undefined: all. */
export function partitionsOf(
  { partitions }: Pick<ReadLog, 'partitions'>,
  conversations: Iterable<ConversationId> | undefined,
): number[] {
  if (conversations === undefined) return Array.from({ length: partitions }, (_, number) => number)
  const selected = new Set([...conversations].map((id) => partitionOf(id, partitions)))
  return [...selected].sort((a, b) => a - b)
}

/** In the order of the given partitions. */
export async function rangesOf(
  log: ReadLog,
  { since, until }: Period,
  selected: readonly number[],
): Promise<PartitionRange[]> {
  const first = await allEnds(log)
  const second = await allEnds(log) // has the inputs of all records in the first
  return Promise.all(selected.map((partition) => rangeOf(partition)))

  async function rangeOf(partition: number): Promise<PartitionRange> {
    const ends = replayedTopics.flatMap((name) => {
      const [before, after] = [first, second].map((all) =>
        all.get(name)?.find((one) => one.partition === partition),
      )
      return before === undefined || after === undefined
        ? []
        : [{ name, topic: log.topicPrefix + name, ...after, to: before.end }]
    })
    const cut = await cutOf(ends)
    const ranges = await Promise.all(ends.map((one) => topicRange(one, cut)))
    const turnsFrom = new Map<TopicName, Offset>()
    for (const { name, topic, begin, end } of ends)
      if (cut !== undefined && turnInboxes.includes(name))
        turnsFrom.set(
          name,
          await firstOffsetSince(log.bus, { topic, partition, from: begin, to: end }, cut),
        )
    const isWhole = cut === undefined && log.turns === undefined
    const hasTurn = (turn: TurnId) =>
      turn.turn >= (turnsFrom.get(inboxOf(turn.conversation)) ?? 0) &&
      log.turns?.(partition, turn) !== false
    return {
      partition,
      topics: ranges,
      hasTurn: isWhole ? undefined : hasTurn,
      newest: Math.max(0, ...(await Promise.all(ends.map(newestOf)))),
    }
  }

  /** From this time on, the log is complete. Undefined: all of it is. */
  async function cutOf(ends: EndsOfTopic[]): Promise<Milliseconds | undefined> {
    // A bundle begins with its first turn, and lists the turns that are whole.
    const trimmed =
      log.isBundle === true
        ? []
        : ends.filter(({ name, begin }) => begin > 0 && topics[name].kind === 'log')
    const cuts = since === undefined ? [] : [since]
    for (const { topic, partition, begin, end } of trimmed) {
      const [oldest] = await log.bus.read({ topic, partition, from: begin, to: end, limit: 1 })
      if (oldest !== undefined) cuts.push(oldest.time + leadersApartMs)
    }
    if (cuts.length > 0) return Math.max(...cuts)
    return trimmed.length === 0 ? undefined : Number.POSITIVE_INFINITY
  }

  async function newestOf({
    name,
    topic,
    partition,
    begin,
    end,
  }: EndsOfTopic): Promise<Milliseconds> {
    if (topics[name].kind === 'table' || end === begin) return 0
    const [newest] = await log.bus.read({ topic, partition, from: end - 1, limit: 1 })
    return newest?.time ?? 0
  }

  async function topicRange(
    { name, topic, partition, begin, end, to }: EndsOfTopic,
    cut: Milliseconds | undefined,
  ): Promise<TopicRange> {
    const whole = { topic, partition, from: begin, to: end }
    // A turn's records are not older than its first one, except for differing clocks of brokers.
    const from =
      cut === undefined ? begin : await firstOffsetSince(log.bus, whole, cut - leadersApartMs)
    const gone = begin === end && begin > 0
    const anewAt = turnInboxes.includes(name) ? (log.beginsAnewAt?.(name, partition) ?? 0) : 0
    const common = { name, topic, partition, from, gone, anewAt }
    if (until === undefined) return { ...common, to, seenTo: end }
    const cutOff = await firstOffsetSince(log.bus, { ...whole, from }, until)
    const seenTo = await firstOffsetSince(
      log.bus,
      { ...whole, from: cutOff },
      until + leadersApartMs,
    )
    return { ...common, to: Math.min(cutOff, to), seenTo }
  }
}

type EndsOfTopic = Pick<TopicRange, 'name' | 'topic' | 'partition' | 'to'> & {
  begin: Offset
  end: Offset
}

/** Leaves out missing topics, because a log can be older than they are. */
async function allEnds(log: ReadLog): Promise<Map<TopicName, PartitionEnds[]>> {
  return new Map(
    await Promise.all(replayedTopics.map(async (name) => [name, await endsOf(log, name)] as const)),
  )
}
