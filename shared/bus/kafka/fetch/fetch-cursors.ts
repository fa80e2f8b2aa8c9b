// The cursors of one fetching, and the phase of each: ready, in a request, waiting after a failure.

import type { Logger } from 'pino'
import type { Offset, StoredRecord } from '../../../contract/bus.ts'
import { partitionName } from '../../../contract/partition.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { backoffMs } from '../backoff.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { errorCodes, type Node, protocolError } from '../driver.ts'
import { asBusError, readOf, recoveryOf } from '../failure.ts'
import { createLogThrottle } from '../log-throttle.ts'

/** A place in a partition, and the callbacks for the records from there. */
export type Cursor = {
  readonly topic: string
  readonly partition: number
  /** Moved by fetching. */
  next: Offset
  /**
   * True: the cursor starts at the log's begin if retention has deleted its offset. False: it fails
   * then, because a partial history is useless to it.
   */
  readonly skipsDeleted: boolean
  /** False: fetching skips the cursor until fetching.wake(). */
  hasRoom(): boolean
  /** At least one record, from the old `next` on. `end`: the end of the log at that moment. */
  onRecords(records: StoredRecord[], end: Offset): void
  /** `next` moved over offsets that have no records. */
  onSkipped?(): void
  /** A response had nothing after `next`. Called after onRecords, and with each such response. */
  onEnd?(): void
  /** Nothing more comes: the cursor is removed. */
  onFailed(error: WeirError): void
}

type Phase = { kind: 'ready' | 'in-flight' | 'removed' } | { kind: 'backoff'; until: Milliseconds }

export type CursorState = {
  readonly cursor: Cursor
  phase: Phase
  /** The topic's id at the start. Undefined: not known yet, or the brokers have no ids. */
  topicId: string | undefined
  /** The failures in a row. */
  failing: { count: number; since: Milliseconds } | undefined
  /** Responses without progress although the partition has records. */
  stall: { since: Milliseconds | undefined; count: number }
  /** The writers of the partition's newest records. */
  written: Written
  /** No request earlier: its last response had many records. */
  gatherUntil: Milliseconds
}

/**
 * `ownUntil`: this process wrote all new records until shortly before. `othersUntil`: another process
 * wrote some; `othersBefore`: the same before the last response.
 */
type Written = { ownUntil: Milliseconds; othersUntil: Milliseconds; othersBefore: Milliseconds }

export type FetchCursors = {
  /** In the order of their last records: a broker fills its response in the request's order. */
  all(): CursorState[]
  /** Those of one partition. */
  of(place: { topic: string; partition: number }): CursorState[]
  add(cursor: Cursor): void
  remove(cursor: Cursor): void
  clear(): void
  /** The leader to fetch from. Without one the cursor waits or fails, and `onUnknown` is called. */
  leaderOf(state: CursorState, onUnknown: () => void): Node | undefined
  /** After a response without an error. `gotRecords` moves the cursor to the end of the order. */
  succeeded(state: CursorState, gotRecords: boolean): void
  /** Each of them waits, or fails if a retry cannot help. */
  retryOrFail(states: CursorState[], error: unknown): void
  fail(state: CursorState, error: WeirError): void
}

const leaderWaitMs = 60_000
/** The partitions that one log line names. */
const namedMax = 20

export const ready: Phase = { kind: 'ready' }
export const inFlight: Phase = { kind: 'in-flight' }
const removed: Phase = { kind: 'removed' }

export function createFetchCursors(cluster: Cluster, log: Logger): FetchCursors {
  const { clock } = cluster
  const states = new Map<Cursor, CursorState>()
  const byPartition = new Map<string, CursorState[]>()
  const throttle = createLogThrottle(clock)

  function failingNames(): string[] {
    const failing = [...states.values()].filter(({ failing }) => (failing?.count ?? 0) > 1)
    return failing.slice(0, namedMax).map(({ cursor }) => partitionName(cursor))
  }

  function retryOrFail(failed: CursorState[], error: unknown): void {
    const recovery = recoveryOf(error)
    const now = clock.monotonic()
    for (const state of failed) {
      if (state.phase.kind === 'removed') continue
      const { topic } = state.cursor
      state.failing ??= { count: 0, since: now }
      state.failing.count += 1
      const { count, since } = state.failing
      state.phase = { kind: 'backoff', until: now + backoffMs(count) }
      const reason = asBusError(error, readOf(state.cursor))
      const isTopicGone =
        cluster.known(topic) === undefined &&
        now - since > leaderWaitMs &&
        reason.code !== 'bus.unreachable'
      if (recovery === 'fail' || isTopicGone) fail(state, reason)
      else if (throttle.isDue(since))
        log.warn(
          { reason: reason.message, tries: count, partitions: failingNames() },
          'reading fails; retrying',
        )
    }
  }

  function fail(state: CursorState, error: WeirError): void {
    if (state.phase.kind === 'removed') return
    drop(state)
    state.cursor.onFailed(error)
  }

  function drop(state: CursorState): void {
    state.phase = removed
    states.delete(state.cursor)
    const name = partitionName(state.cursor)
    const left = byPartition.get(name)?.filter((each) => each !== state) ?? []
    if (left.length > 0) byPartition.set(name, left)
    else byPartition.delete(name)
  }

  return {
    all: () => [...states.values()],
    of: (place) => byPartition.get(partitionName(place)) ?? [],
    retryOrFail,
    fail,

    add(cursor) {
      const topicId = cluster.known(cursor.topic)?.id
      const state: CursorState = {
        cursor,
        phase: ready,
        topicId,
        failing: undefined,
        stall: { since: undefined, count: 0 },
        written: { ownUntil: 0, othersUntil: 0, othersBefore: 0 },
        gatherUntil: 0,
      }
      states.set(cursor, state)
      const name = partitionName(cursor)
      byPartition.set(name, [...(byPartition.get(name) ?? []), state])
    },

    remove(cursor) {
      const state = states.get(cursor)
      if (state !== undefined) drop(state)
    },

    clear() {
      states.clear()
      byPartition.clear()
    },

    leaderOf(state, onUnknown) {
      const { topic: name, partition } = state.cursor
      const topic = cluster.known(name)
      if (topic?.id !== undefined) {
        state.topicId ??= topic.id
        if (state.topicId !== topic.id) {
          fail(state, topicRecreated(name))
          return undefined
        }
      }
      const leader = topic?.leaders[partition]
      if (leader !== undefined) return leader
      const code =
        topic === undefined ? errorCodes.unknownTopicOrPartition : errorCodes.leaderNotAvailable
      retryOrFail([state], protocolError(code))
      onUnknown()
      return undefined
    },

    succeeded(state, gotRecords) {
      const { cursor } = state
      if (state.failing !== undefined && throttle.reset())
        log.info({ topic: cursor.topic, partition: cursor.partition }, 'reading works again')
      state.failing = undefined
      if (!gotRecords) return
      states.delete(cursor)
      states.set(cursor, state)
    },
  }
}

function topicRecreated(topic: string): WeirError {
  const why = `topic ${topic} was deleted and created again while Weir read it, so its state is lost. Delete topics and groups together, and start again`
  return new WeirError('bus.commit-outside-log', why)
}

/** A cursor that was removed meanwhile stays removed. */
export function endFetch(states: CursorState[]): void {
  for (const state of states) if (state.phase.kind === 'in-flight') state.phase = ready
}
