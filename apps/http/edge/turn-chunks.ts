// One turn as the chunks of a chat protocol, until its end or until only persons can go on with it.
// Chat clients answer an approval in a new request, so the stream of a waiting turn ends.
// TURN-CHUNKS-1. A turn waits if the log has no decision. The events alone do not show it: a stream
//     of an earlier turn reads approvals that were decided long ago.

import type { TurnEvent, Weir } from '../../../client/weir.ts'
import type { WaitingCall } from './turn-calls.ts'

/** A protocol's view of a turn. Pure: it gets the events in order, from the start of the turn. */
export type TurnFold<Chunk> = {
  add(event: TurnEvent): Chunk[]
  /** The calls that wait for persons, if nothing else can happen. Empty: the turn continues. */
  paused(): WaitingCall[]
  /** The beginning of a stream that continues a turn behind approvals. */
  start(): Chunk[]
  /** The end of a stream whose turn waits for these calls. */
  pause(calls: WaitingCall[]): Chunk[]
}

/**
 * `turn`: events of other turns are left out. Undefined: `events` has one turn only. `answered`: the
 * approvals that the client has answered. The chunks begin where the turn waited for one of them.
 */
export type TurnChunks<Chunk> = {
  weir: Pick<Weir, 'approvals'>
  events: AsyncIterable<TurnEvent>
  turn?: number
  fold: TurnFold<Chunk>
  answered?: ReadonlySet<string>
}

export async function* turnChunks<Chunk>({
  weir,
  events,
  turn,
  fold,
  answered = new Set(),
}: TurnChunks<Chunk>): AsyncGenerator<Chunk, void> {
  let isBefore = answered.size > 0
  for await (const event of events) {
    if (turn !== undefined && 'turn' in event && event.turn !== turn) continue
    const isEnd = event.type === 'turn-finished'
    const chunks = fold.add(event)
    const paused = fold.paused()
    if (!isBefore) yield* chunks
    else if (isEnd || paused.some(({ id }) => answered.has(id))) {
      isBefore = false
      yield* fold.start()
      if (isEnd) yield* chunks
    }
    if (isEnd) return
    if (paused.length === 0 || paused.some(({ id }) => answered.has(id))) continue
    const waiting = new Set((await weir.approvals()).map(({ id }) => id))
    if (!paused.every(({ id }) => waiting.has(id))) continue
    yield* fold.pause(paused)
    return
  }
}
