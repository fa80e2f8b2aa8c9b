// Records that this process wrote, as its own readers get them: from memory.
// A cursor gets them when the broker has acknowledged them, and only if it stands right
// before them in the same topic. A response with them skips them (fetch-responses.ts).
// A partition that this process alone writes is not fetched until shortly after the
// last write. A gap in the offsets of its writes shows another writer, and it is fetched at once.

import type { Offset, StoredRecord } from '../../contract/bus.ts'
import { partitionName } from '../../contract/partition.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { CursorState, FetchCursors } from './fetch/fetch-cursors.ts'

/**
 * A partition counts as written by this process alone for `ownMs` after its last write, unless another
 * process wrote there within `othersMs`. So a record of another writer may come later by `ownMs`, once
 * in each `othersMs`.
 */
const ownMs = 100
const othersMs = 10_000

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
}

/** `onMissing`: called when a cursor did not get the records that this process wrote. */
export function createOwnRecords(
  cluster: Cluster,
  cursors: Pick<FetchCursors, 'of'>,
  onMissing: () => void,
): OwnRecords {
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
        if (wasFetched)
          written.othersUntil = written.othersBefore // the response had this write
        else if (!takes) onMissing()
        if (!takes || phase.kind === 'removed') continue
        cursor.next = end
        cursor.onRecords(records(), end)
      }
    },

    sawOthers({ written }) {
      written.othersBefore = written.othersUntil
      written.othersUntil = clock.monotonic() + othersMs
    },
  }
}

/** No request for the cursor earlier. 0: another process wrote the newest records. */
export function ownAloneUntil(
  { written: { ownUntil, othersUntil } }: CursorState,
  now: Milliseconds,
): Milliseconds {
  return othersUntil > now ? 0 : ownUntil
}
