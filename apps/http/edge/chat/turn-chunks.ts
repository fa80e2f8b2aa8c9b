// One turn as the chunks of a chat protocol, until its end or until only the client or persons can go
// on with it. Chat clients answer in a new request, so the stream of a waiting turn ends.
// A turn waits if the log has no answer. The events alone do not show it: a stream of
// an earlier turn reads calls that were answered long ago.

import type { TurnEvent, Weir } from '../../../../client/weir.ts'
import { callIdOf, type WaitingCall } from './turn-calls.ts'

/** A protocol's view of a turn. Pure: it gets the events in order, from the start of the turn. */
export type TurnFold<Chunk> = {
  add(event: TurnEvent): Chunk[]
  /** The calls that wait for an answer, if nothing else can happen. Empty: the turn continues. */
  paused(): WaitingCall[]
  /** The beginning of a stream that continues a turn after answers. */
  start(): Chunk[]
  /** The end of a stream whose turn waits for these calls. */
  pause(calls: WaitingCall[]): Chunk[]
}

/**
 * `turn`: events of other turns are left out. Undefined: `events` has one turn only. `answered`: the
 * ids of waiting calls that the client has answered. The chunks begin where the turn waited for one of
 * them. `decides` false: the client decides no approvals, so the turn does not wait for it there.
 */
export type TurnChunks<Chunk> = {
  weir: Pick<Weir, 'approvals' | 'conversation'>
  events: AsyncIterable<TurnEvent>
  turn?: number
  fold: TurnFold<Chunk>
  answered?: ReadonlySet<string>
  decides?: boolean
}

/** The chunks of an event come together. */
export async function* turnChunks<Chunk>({
  weir,
  events,
  turn,
  fold,
  answered = new Set(),
  decides = true,
}: TurnChunks<Chunk>): AsyncGenerator<Chunk[], void> {
  let isBefore = answered.size > 0
  for await (const event of events) {
    if (turn !== undefined && 'turn' in event && event.turn !== turn) continue
    const isEnd = event.type === 'turn-finished'
    const chunks = fold.add(event)
    const paused = fold.paused().filter(({ kind }) => decides || kind === 'client')
    if (!isBefore) {
      if (chunks.length > 0) yield chunks
    } else if (isEnd || paused.some(({ id }) => answered.has(id))) {
      isBefore = false
      yield [...fold.start(), ...(isEnd ? chunks : [])]
    }
    if (isEnd) return
    if (paused.length === 0 || paused.some(({ id }) => answered.has(id))) continue
    if (!(await areWaiting(weir, event.conversation, paused))) continue
    yield fold.pause(paused)
    return
  }
}

async function areWaiting(
  weir: Pick<Weir, 'approvals' | 'conversation'>,
  conversation: string,
  calls: readonly WaitingCall[],
): Promise<boolean> {
  const has = (kind: WaitingCall['kind']) => calls.some((call) => call.kind === kind)
  const waiting = new Set([
    ...(has('approval') ? (await weir.approvals()).map(({ id }) => id) : []),
    ...(has('client') ? (await weir.conversation(conversation).offeredCalls()).map(callIdOf) : []),
  ])
  return calls.every(({ id }) => waiting.has(id))
}
