// A bus whose records name their turn's span in the header `traceparent` (W3C Trace Context), so other
// readers of the topics can add spans to the trace. Each id is a hash of the place in the log.

import type { Bus, RecordToAppend } from '../../contract/bus.ts'
import { turnKey } from '../../contract/ids.ts'
import { traceparentOfTurn } from '../../contract/trace-ids.ts'
import { newest } from '../../lib/newest.ts'
import { readerThrough, subscribeThrough } from '../reader-through.ts'

/** The turns whose headers are kept: a turn has many records, and a hash costs microseconds. */
const turnsKept = 1_000

export function tracedBus(bus: Bus): Bus {
  const headers = newest<string>(turnsKept)
  const traced = (record: RecordToAppend): RecordToAppend => {
    const { turn } = record
    if (turn === undefined) return record
    const traceparent = headers.at(turnKey(turn), () => traceparentOfTurn(turn))
    return { ...record, traceparent }
  }
  return {
    ...bus,
    append: (records, options) => bus.append(records.map(traced), options),
    subscribe: subscribeThrough(bus, (reader) =>
      readerThrough(
        reader,
        (records) => records,
        (outputs) => outputs.map(traced),
      ),
    ),
  }
}
