// The events of a conversation from a position on, read from the log: first those that it has, then
// those that arrive. The caller's pace is the pace of reading.
// Reads: activity, and model-deltas from the round on that is open when it has caught up. With
// `reasoning`, model-deltas from the first event on.

import {
  batchesOf,
  firstOffsetSince,
  leadersApartMs,
  type Range,
  rangeSince,
} from '../../shared/bus/range.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Offset, StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Part } from '../../shared/contract/messages.ts'
import { isGuest } from '../../shared/contract/topology.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { type Activity, activityIn, type Streamed, streamedSet } from '../edge/edge.ts'
import type { Received } from '../edge/feed.ts'
import type { FollowKey } from '../edge/followed-key.ts'
import { pastRecords } from '../edge/past-records.ts'
import { needOptions, needSignal, needText } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import { createEventFold, type EventFold } from '../turn/event-fold.ts'
import { positionIn, resumeAfter } from '../turn/event-resume.ts'
import { openingOf, type Place } from '../turn/opening.ts'
import { createPartsFirst } from '../turn/parts-first.ts'
import type { TurnEvent } from '../turn/turn-event.ts'
import { turnsInHistory } from './history.ts'

/**
 * `after`: the position of an event. `turn`: the number of a turn; earlier turns give no events.
 * Default: all events. `reasoning`: rounds that are over give their reasoning too, and their text in
 * pieces, as it was streamed. This reads more of the log. `signal`: ends the events.
 */
export type EventsOptions = {
  after?: string
  turn?: number
  reasoning?: boolean
  signal?: AbortSignal
}

/** Batches of one topic that wait for the caller. */
const waitingMax = 4

/** Goes on until `signal` aborts or the caller leaves. Throws `usage` for bad options. */
export async function* conversationEvents(
  { followKey, ...place }: Place & { followKey: FollowKey },
  conversation: ConversationId,
  options: EventsOptions,
): AsyncGenerator<TurnEvent, void> {
  const asked = { code: 'usage', subject: 'events' } as const
  needOptions(options, { ...asked, example: '{ turn: 0 }' })
  refuseUnknownKeys(options, ['after', 'turn', 'reasoning', 'signal'], asked)
  const { after, turn: least, reasoning = false, signal } = options
  needText('after', after, 'usage')
  needSignal(signal, 'usage')
  if (least !== undefined && !(Number.isSafeInteger(least) && least >= 0))
    throw usageError(`turn is ${shown(least)}; must be the number of a turn, from 0 on`)
  const { bus, topicPrefix, partition } = place
  const topic = `${topicPrefix}activity`
  const behind = after === undefined ? (event: TurnEvent) => [event] : resumeAfter(after)
  const pass = (event: TurnEvent): TurnEvent[] => {
    const isEarlier = 'turn' in event && event.turn < (least ?? event.turn)
    return isEarlier ? [] : behind(event)
  }
  const deltas = { topic: `${topicPrefix}model-deltas`, partition }
  // In front of the end of the activity: of a round that begins after it, no part is missed.
  const { to: deltasEnd } = await rangeSince(bus, deltas)
  const range = await rangeSince(bus, { topic, partition })
  const from = await beginning(place, conversation, range, { after, turn: least })
  const fold = createEventFold()
  let roundSince: number | undefined
  let partsOf: PastParts | undefined
  const past = { ...range, from, keys: [conversation] }
  for await (const records of batchesOf(bus, past, signal))
    for (const record of records) {
      if (record.key !== conversation) continue
      if (reasoning) {
        partsOf ??= await pastParts(place, conversation, record.time, signal)
        for await (const part of partsOf(record)) yield* fold.part(part).flatMap(pass)
      }
      yield* activityEvents(fold, record).flatMap(pass)
      roundSince = fold.streaming === undefined ? undefined : (roundSince ?? record.time)
    }
  const deltasFrom =
    roundSince === undefined ? deltasEnd : (await rangeSince(bus, deltas, roundSince)).from
  // A front writes the responses of a guest, so they have no stream.
  const order = isGuest(conversation)
    ? undefined
    : createPartsFirst<Received<Activity>>(fold.streaming)
  const stop = new AbortController()
  const ending = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  try {
    const starts = [
      { topic, partition, from: Math.max(range.to, from) },
      { ...deltas, from: deltasFrom },
    ].map((start) => followKey({ ...start, key: conversation, signal: ending }))
    for await (const record of merged(starts, ending)) {
      const message =
        record.value === null ? undefined : messageIn(record.topic === topic, record.value)
      if (message === undefined) continue
      const { id, offset } = record
      if (message.type === 'part') yield* fold.part(message).flatMap(pass)
      else if (message.type === 'model-finished')
        yield* (order?.complete(message) ?? []).flatMap(fold.activity).flatMap(pass)
      else {
        const received = { id, offset, message }
        yield* (order?.activity(received) ?? [received]).flatMap(fold.activity).flatMap(pass)
      }
    }
  } finally {
    stop.abort()
  }
}

function activityEvents(fold: EventFold, { id, offset, value }: StoredRecord): TurnEvent[] {
  const message = value === null ? undefined : activityIn(value)
  return message === undefined ? [] : fold.activity({ id, offset, message })
}

function messageIn(isActivity: boolean, value: Uint8Array): Activity | Streamed | undefined {
  if (isActivity) return activityIn(value)
  const message = decode(value)
  return message.type === 'part' || message.type === 'model-finished' ? message : undefined
}

/** The parts of the response that a record of activity reports. None for other records. */
type PastParts = (record: StoredRecord) => AsyncGenerator<Part, void>

/** Reads model-deltas once, from `since` on, in step with the activity. */
async function pastParts(
  place: Place,
  conversation: ConversationId,
  since: number,
  signal: AbortSignal | undefined,
): Promise<PastParts> {
  const { bus, topicPrefix, partition } = place
  const range = await rangeSince(bus, { topic: `${topicPrefix}model-deltas`, partition }, since)
  const records = pastRecords(bus, range, conversation, streamedSet, signal)
  let ahead: Part | undefined
  return async function* (record) {
    const answered = record.value === null ? undefined : activityIn(record.value)
    if (answered?.type !== 'model-answered') return
    const isLater = ({ turn, round }: Part): boolean =>
      turn > answered.turn || (turn === answered.turn && round > answered.round)
    if (ahead !== undefined && isLater(ahead)) return
    if (ahead !== undefined) yield ahead
    ahead = undefined
    for (;;) {
      const { value: next, done } = await records.next()
      if (done) return
      const { message } = next
      const isLast = message.type === 'model-finished'
      if (isLast && message.turn === answered.turn && message.round === answered.round) return
      if (isLast) continue
      if (isLater(message)) {
        ahead = message // the end of this response is gone
        return
      }
      yield message
    }
  }
}

/** An offset before the turn of the position, or before the first turn of the conversation. */
async function beginning(
  place: Place,
  conversation: ConversationId,
  range: Range,
  { after, turn: given }: { after: string | undefined; turn: number | undefined },
): Promise<Offset> {
  const turn = after === undefined ? given : await turnAt(place, range, positionIn(after).offset)
  const first = turn ?? (await turnsInHistory(place, conversation)).at(-1)
  if (first === undefined || isGuest(conversation)) return range.from
  const opening = await openingOf(place, first)
  return opening === undefined
    ? range.from
    : firstOffsetSince(place.bus, range, opening.time - leadersApartMs)
}

async function turnAt(
  { bus }: Place,
  { topic, partition }: Range,
  offset: Offset,
): Promise<number | undefined> {
  const [record] = await bus.read({ topic, partition, from: offset, to: offset + 1, limit: 1 })
  return record?.value ? activityIn(record.value)?.turn : undefined
}

/** The records of several topics as they arrive. Throws if one cannot be read. */
async function* merged(
  starts: AsyncIterable<StoredRecord[]>[],
  signal: AbortSignal,
): AsyncGenerator<StoredRecord, void> {
  const waiting: StoredRecord[][] = []
  let failure: { error: unknown } | undefined
  let wake = (): void => {}
  let goOn = (): void => {}
  const read = async (start: (typeof starts)[number]): Promise<void> => {
    for await (const records of start) {
      waiting.push(records)
      wake()
      while (waiting.length >= waitingMax && !signal.aborted)
        await new Promise<void>((resolve) => {
          const before = goOn
          goOn = () => {
            before()
            resolve()
          }
        })
    }
  }
  const onAbort = (): void => {
    wake()
    goOn()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  for (const start of starts)
    read(start).catch((error: unknown) => {
      failure ??= { error }
      wake()
    })
  while (!signal.aborted) {
    const records = waiting.shift()
    if (records !== undefined) {
      const free = goOn
      goOn = () => {}
      free()
      yield* records
      continue
    }
    if (failure !== undefined) throw failure.error
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}
