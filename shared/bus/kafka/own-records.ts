// Records that this process wrote, as its own readers get them: from memory.
// OWN-RECORDS-1. A cursor gets them when the broker has acknowledged them, and only if it stands right
//     before them in the same topic. A response with them skips them (fetch-responses.ts).
// OWN-RECORDS-2. A partition that this process alone writes is fetched at intervals, and at once
//     again when a response shows another writer.

import type { Offset, StoredRecord } from '../../contract/bus.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { Cluster } from './cluster.ts'
import type { CursorState, FetchCursors } from './fetch-cursors.ts'
import { partitionName } from './partition-queues.ts'

/**
 * A partition counts as written by this process alone for so long after its last write. Then requests
 * for it start at multiples of `ownGapMs`, all of them together. So records of another writer may come
 * later by that, once in each `ownMs`.
 */
const ownMs = 1_000
const ownGapMs = 10

type Place = { topic: string; partition: number }

/** Acknowledged records of one partition, from an offset to another. Made only for a reader. */
export type Written = Place & { from: Offset; end: Offset; records(): StoredRecord[] }

export type OwnRecords = {
  onWritten(written: Written): void
  /** An end that the partition has reached, as far as this process knows. 0: nothing is known. */
  endSeen(place: Place): Offset
  sawEnd(place: Place & { end: Offset }): void
  /** A response had records that this process had not delivered. */
  sawOthers(state: CursorState): void
  /** These cursors have their response, so the next request of some must wait. */
  pace(states: CursorState[]): void
}

export function createOwnRecords(cluster: Cluster, cursors: Pick<FetchCursors, 'of'>): OwnRecords {
  const { clock } = cluster
  const ends = new Map<string, { topicId: string | undefined; end: Offset }>()

  function endSeen(place: Place): Offset {
    const seen = ends.get(partitionName(place))
    return seen !== undefined && seen.topicId === cluster.known(place.topic)?.id ? seen.end : 0
  }

  function sawEnd({ topic, partition, end }: Place & { end: Offset }): void {
    if (end <= endSeen({ topic, partition })) return
    const topicId = cluster.known(topic)?.id
    ends.set(partitionName({ topic, partition }), { topicId, end })
  }

  return {
    endSeen,
    sawEnd,

    onWritten({ from, end, records, ...place }) {
      sawEnd({ ...place, end })
      const now = clock.monotonic()
      for (const state of cursors.of(place)) {
        const { cursor, written, phase, topicId } = state
        const wasFetched = cursor.next >= end
        const isNext = cursor.next === from && cursor.hasRoom()
        const takes = isNext && topicId === cluster.known(cursor.topic)?.id
        written.ownUntil = wasFetched || takes ? now + ownMs : 0
        if (wasFetched) written.othersUntil = 0
        if (!takes || phase.kind === 'removed') continue
        cursor.next = end
        cursor.onRecords(records(), end)
      }
    },

    sawOthers({ written }) {
      written.othersUntil = clock.monotonic() + ownMs
    },

    pace(states) {
      const now = clock.monotonic()
      for (const state of states)
        if (isOwnAlone(state, now))
          state.written.fetchAt = (Math.floor(now / ownGapMs) + 1) * ownGapMs
    },
  }
}

export function isOwnAlone(
  { written: { ownUntil, othersUntil } }: CursorState,
  now: Milliseconds,
): boolean {
  return ownUntil > now && othersUntil <= now
}
