// Applies the response for one cursor: its records, its end, a stall, or an offset outside the log.

import type { Logger } from 'pino'
import type { Offset } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { errorCodes, protocolError } from '../driver.ts'
import { asBusError, readOf } from '../failure.ts'
import { decodeRecordSet } from '../protocol/record-batch.ts'
import {
  type Cursor,
  type CursorState,
  endFetch,
  type FetchCursors,
  inFlight,
} from './fetch-cursors.ts'
import type { FetchedPartition } from './fetch-request.ts'

/** How long a partition may have records and return none. */
const stallMs = 30_000
const stallsMax = 3

type Parts = {
  cluster: Cluster
  cursors: FetchCursors
  log: Logger
  onFailure(states: CursorState[], error: unknown): void
  /** The response had records that this process did not deliver itself. */
  onOthers(state: CursorState): void
  wake(): void
}

/**
 * The handler of one cursor's response returns how many records it had, if nothing is behind them.
 * Otherwise 0. `reset`: closes the connection of the response.
 */
export function createResponseHandler({ cluster, cursors, log, onFailure, onOthers, wake }: Parts) {
  const { clock } = cluster
  return onResponse

  function onResponse(state: CursorState, response: FetchedPartition, reset: () => void): number {
    const { cursor } = state
    const { topic, partition, next: from } = cursor
    if (response.errorCode === errorCodes.offsetOutOfRange) void onOutOfRange(state)
    else if (response.errorCode !== 0) onFailure([state], protocolError(response.errorCode))
    if (response.errorCode !== 0) return 0
    try {
      const { aborted, end } = response
      const decoded = decodeRecordSet(response.set, { topic, partition, from, aborted })
      const { records, next } = decoded
      cursor.next = next
      if (next > from) onOthers(state)
      cursors.succeeded(state, records.length > 0)
      checkStall(state, next > from || next >= end, reset)
      if (records.length > 0) cursor.onRecords(records, end)
      else if (next > from) cursor.onSkipped?.()
      if (next < end) return 0
      cursor.onEnd?.()
      return records.length
    } catch (error) {
      cursors.fail(state, asBusError(error, readOf(cursor)))
      return 0
    }
  }

  function checkStall(state: CursorState, moves: boolean, reset: () => void): void {
    const { topic, partition, next: offset } = state.cursor
    const step = nextStallStep(state.stall, moves, clock.monotonic())
    if (step === 'read-on') return
    log.error(
      { topic, partition, offset },
      'a partition has records but returns none; reconnecting',
    )
    reset()
    if (step === 'reconnect') return
    const why = `${topic}/${partition} has records from offset ${offset} on, but the broker returns none: check the broker's log`
    cursors.fail(state, new WeirError('bus.record-unreadable', why))
  }

  /** The log's ends show whether the offset is before it, after it, or in it after all. */
  async function onOutOfRange(state: CursorState): Promise<void> {
    const { cursor } = state
    const { topic, partition, next } = cursor
    state.phase = inFlight // no other request meanwhile
    try {
      const [ends] = await cluster.ends(topic, [partition])
      if (ends !== undefined && next >= ends.begin && next <= ends.end) {
        endFetch([state])
        return onFailure([state], protocolError(errorCodes.offsetNotAvailable)) // a new leader may lag for a moment
      }
      if (ends !== undefined && next < ends.begin && cursor.skipsDeleted) {
        cursor.next = ends.begin
        endFetch([state])
        return wake()
      }
      cursors.fail(state, outsideLog(cursor, ends))
    } catch (error) {
      cursors.fail(state, asBusError(error, readOf({ topic, partition })))
    }
  }
}

function outsideLog(
  { topic, partition, next }: Cursor,
  ends: { begin: Offset; end: Offset } | undefined,
): WeirError {
  const range = ends === undefined ? 'the log' : `the log (${ends.begin} to ${ends.end})`
  const why = `${topic}/${partition}: cannot read offset ${next}, which is outside ${range}. Retention deleted it before Weir read it, or the topic was created again: delete topics and groups together, or restore the log`
  return new WeirError('bus.commit-outside-log', why)
}

/** Updates the stall. A stall of stallMs leads to a new connection, the last one to a failure. */
function nextStallStep(
  stall: CursorState['stall'],
  moves: boolean,
  now: Milliseconds,
): 'read-on' | 'reconnect' | 'fail' {
  if (moves) {
    stall.since = undefined
    stall.count = 0
    return 'read-on'
  }
  stall.since ??= now
  if (now - stall.since < stallMs) return 'read-on'
  stall.since = undefined
  stall.count += 1
  return stall.count < stallsMax ? 'reconnect' : 'fail'
}
