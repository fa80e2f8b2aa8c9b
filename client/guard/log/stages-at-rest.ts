// Waits until the stages of this process have handled all records of their inboxes. A program that
// ends right after its last answer would otherwise leave that answer unjudged in the log.
// Two equal looks at the ends count, with all inboxes read between them. A stage
// writes its outputs before its position moves on, so no output is on its way then.

import type { Bus, Offset } from '../../../shared/contract/bus.ts'
import { partitionName } from '../../../shared/contract/partition.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { Instruments, MeasuredPartition } from '../../../shared/runtime/instruments.ts'

export type StagesAtRest = {
  /** For the stages to watch. */
  instruments: Instruments
  /** Resolves at rest, at the latest after `waitMs`. Throws the errors of `bus.ends`. */
  wait(bus: Pick<Bus, 'ends' | 'endAhead' | 'clock'>, waitMs: Milliseconds): Promise<void>
}

export function stagesAtRest(): StagesAtRest {
  const positions = new Map<MeasuredPartition, Offset>()
  let wake = (): void => {}

  async function endsOf(bus: Pick<Bus, 'ends' | 'endAhead'>): Promise<Map<string, Offset>> {
    const topics = [...new Set([...positions.keys()].map(({ topic }) => topic))]
    const found = new Map<string, Offset>()
    for (const topic of topics)
      for (const { partition, end } of await bus.ends(topic))
        found.set(partitionName({ topic, partition }), bus.endAhead?.({ topic, partition }) ?? end)
    return found
  }

  return {
    instruments: {
      assigned(measured) {
        positions.set(measured, measured.from)
        return {
          acknowledged({ read }) {
            const last = read.at(-1)
            if (last !== undefined) positions.set(measured, last.offset + 1)
            wake()
          },
          closed() {
            positions.delete(measured)
            wake()
          },
        }
      },
      observed: () => {},
    },

    async wait(bus, waitMs) {
      const until = bus.clock.monotonic() + waitMs
      for (;;) {
        const ends = await endsOf(bus)
        const areRead = [...positions].every(
          ([measured, position]) => position >= (ends.get(partitionName(measured)) ?? 0),
        )
        const leftMs = until - bus.clock.monotonic()
        if (leftMs <= 0) return
        if (!areRead) {
          await new Promise<void>((resolve) => {
            const cancel = bus.clock.after(leftMs, () => wake())
            wake = () => {
              cancel()
              resolve()
            }
          })
          continue
        }
        const later = await endsOf(bus)
        if ([...later].every(([name, end]) => ends.get(name) === end)) return
      }
    },
  }
}
