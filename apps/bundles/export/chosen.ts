// Which stretch of which conversation is exported. A conversation has one, from the first of its
// turns that is wanted to the last: a fold of its inbox cannot jump over what lies between. Memory:
// a few numbers for each conversation that was active in the time asked for.

import { limits } from '../../../shared/contract/limits.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { messageOf } from '../../history/message-of.ts'
import type { OpenLog } from '../../history/open-log.ts'
import { scan } from '../../history/scan.ts'
import { type Stretch, stretchesOf } from './stretches.ts'
import { fulfilledBy, saidBy, type Wanted, type WhereKey } from './wanted.ts'

export type Chosen = {
  /** Undefined: nothing of this conversation. */
  stretchOf(conversation: string): Stretch | undefined
  /** Where records of chosen conversations stand. */
  partitions: number[]
  /** Of the first record that is wanted, and of the last one so far. */
  window: { from: Milliseconds; to: Milliseconds }
  /** Values that turns have which were not wanted, by each key of `where`, a few of each. */
  others: Others
}

type Others = Map<WhereKey, Set<string>>

/** Of each key. */
const othersMax = 10

/**
 * A turn that was active at some time began no longer before it than this, but for one that waited
 * in a long queue.
 */
const turnMsMax: Milliseconds = limits.turnWallMsMax + limits.turnExtensionMsMax + 60 * 60 * 1000

/** `signal`: once it aborts, what it answers is of no use. */
export async function chosenIn(log: OpenLog, wanted: Wanted, signal: AbortSignal): Promise<Chosen> {
  const { conversations } = wanted
  const all = Array.from({ length: log.partitions }, (_, partition) => partition)
  const partitions =
    conversations.size === 0
      ? all
      : [...new Set([...conversations].map((id) => partitionOf(id, log.partitions)))].sort(
          (a, b) => a - b,
        )
  if (wanted.isWhole) {
    const window = { from: 0, to: Number.POSITIVE_INFINITY }
    const stretchOf = (id: string) =>
      conversations.size === 0 || conversations.has(id) ? whole(id) : undefined
    return { stretchOf, partitions, window, others: new Map() }
  }
  const chosen = new Map<string, Stretch>()
  const others: Others = new Map([...wanted.where.keys()].map((key) => [key, new Set()]))
  for (const partition of partitions)
    for await (const stretch of wantedIn(log, partition, wanted, { others, signal }))
      chosen.set(stretch.conversation, joined(chosen.get(stretch.conversation), stretch))
  const from = [...chosen.values()].reduce(
    (least, { beganAt }) => Math.min(least, beganAt),
    Number.POSITIVE_INFINITY,
  )
  const to = [...chosen.values()].reduce(
    (most, { last, lastAt }) => Math.max(most, last === Number.POSITIVE_INFINITY ? last : lastAt),
    0,
  )
  return { stretchOf: (id) => chosen.get(id), partitions, window: { from, to }, others }
}

function whole(conversation: string): Stretch {
  const forEver = Number.POSITIVE_INFINITY
  return { conversation, from: 0, first: 0, last: forEver, beganAt: 0, lastAt: forEver }
}

function joined(a: Stretch | undefined, b: Stretch): Stretch {
  if (a === undefined) return b
  return {
    ...{
      conversation: a.conversation,
      from: Math.min(a.from, b.from),
      first: Math.min(a.first, b.first),
      last: Math.max(a.last, b.last),
    },
    ...{ beganAt: Math.min(a.beganAt, b.beganAt), lastAt: Math.max(a.lastAt, b.lastAt) },
  }
}

type Looking = { others: Others; signal: AbortSignal }

async function* wantedIn(
  log: OpenLog,
  partition: number,
  wanted: Wanted,
  { others, signal }: Looking,
): AsyncGenerator<Stretch> {
  const { conversations, since, until, where } = wanted
  const inTime: Stretch[] = []
  for await (const stretch of stretchesOf(log, partition, Math.max(0, since - turnMsMax), signal)) {
    if (conversations.size > 0 && !conversations.has(stretch.conversation)) continue
    const isOpen = stretch.last === Number.POSITIVE_INFINITY
    if ((isOpen || stretch.lastAt >= since) && stretch.beganAt < until) inTime.push(stretch)
  }
  yield* where.size === 0
    ? inTime
    : await fulfilling(log, partition, wanted, { stretches: inTime, others, signal })
}

/** Those with a turn that is as it was asked for, by what the activity says of it. */
async function fulfilling(
  log: OpenLog,
  partition: number,
  { where }: Wanted,
  { stretches, others, signal }: Looking & { stretches: Stretch[] },
): Promise<Stretch[]> {
  const byConversation = Map.groupBy(stretches, ({ conversation }) => conversation)
  const fulfilled = new Map<Stretch, Set<string>>()
  const fulfil = (stretch: Stretch, keys: string[]) => {
    const known = fulfilled.get(stretch) ?? new Set()
    fulfilled.set(stretch, known)
    for (const key of keys) known.add(key)
  }
  const isOpenWanted = where.get('outcome')?.has('open') === true
  for (const stretch of stretches)
    if (isOpenWanted && stretch.last === Number.POSITIVE_INFINITY) fulfil(stretch, ['outcome'])
  const since = stretches.reduce(
    (least, { beganAt }) => Math.min(least, beganAt),
    Number.POSITIVE_INFINITY,
  )
  if (stretches.length > 0)
    for await (const records of scan(log, { topic: 'activity', partition, since })) {
      if (signal.aborted) break
      for (const { key, value } of records) {
        const ofKey = byConversation.get(key)
        const message = ofKey && messageOf(value)
        if (ofKey === undefined || message === undefined || !('turn' in message)) continue
        const turn = Number(message.turn)
        const stretch = ofKey.find(({ first, last }) => first <= turn && turn <= last)
        if (stretch === undefined) continue
        fulfil(stretch, fulfilledBy(where, message))
        for (const [key, other] of saidBy(message))
          if (other !== null && (others.get(key)?.size ?? othersMax) < othersMax)
            others.get(key)?.add(other)
      }
    }
  return stretches.filter((stretch) => fulfilled.get(stretch)?.size === where.size)
}
