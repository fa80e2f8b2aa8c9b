// Reads partitions from their leaders, for as long as somebody wants: any number of cursors in one
// request that waits until one of them has something. Subscriptions, followers and tables read
// through this; none of them needs a consumer group to fetch.
// FETCHING-1. A cursor is in one request at a time, so what it is given is in order, once, and
//     begins where it stands.
// FETCHING-2. Nothing waits behind a request that waits: a cursor that joins, or has room again,
//     goes into another one at once, up to `requestsMax` for a broker.
// FETCHING-3. A request that fails is repeated after a wait that grows; a cursor whose partition
//     has no leader waits for one, up to leaderWaitMs, and then fails.
// FETCHING-4. A cursor never jumps: out of the log's range, or in a topic that was made again, it
//     fails with the reason.
// FETCHING-5. It is noticed when a partition has records and yields none: its connection is given
//     up, then its cursor fails.

import type { Logger } from 'pino'
import type { Offset, StoredRecord } from '../../contract/bus.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { backoffMs } from './backoff.ts'
import type { Cluster } from './cluster.ts'
import { createComplaint } from './complaint.ts'
import { type Node, protocolError, sendRaw } from './driver.ts'
import { asBusError, troubleOf } from './failure.ts'
import { type FetchedPartition, fetchRequest } from './fetch-request.ts'
import type { Link } from './link.ts'
import { decodeRecordSet } from './record-batch.ts'

/** A place in a partition, and who wants what comes from there. */
export type Cursor = {
  readonly topic: string
  readonly partition: number
  /** Moved by fetching. */
  next: Offset
  /**
   * It begins at the log's begin where it asks for what retention has deleted already. Otherwise it
   * fails: half a past is none (FETCHING-4).
   */
  readonly skipsDeleted: boolean
  /** False: leave it out until fetching.wake(). */
  hasRoom(): boolean
  /** Records from `next` on, at least one. `end`: the end of the log at that moment. */
  take(records: StoredRecord[], end: Offset): void
  /** `next` has moved over offsets that are no records. */
  passed?(): void
  /**
   * An answer said that nothing is behind `next`; after `take`, and again with each answer while it
   * is so.
   */
  atEnd?(): void
  /** Nothing more comes; it is removed. */
  fail(error: WeirError): void
}

export type Fetching = {
  /** Reads for the cursor until it is removed or fails. */
  add(cursor: Cursor): void
  remove(cursor: Cursor): void
  /** A cursor has room again. */
  wake(): void
  close(): void
}

export type FetchingOptions = {
  cluster: Cluster
  log: Logger
  /** Requests to one broker at once, each on a connection of its own. */
  requestsMax: number
  /** Bytes of one partition in one answer, and of all; the first batch comes whole. */
  partitionBytesMax: number
  bytesMax: number
}

/**
 * How long a request waits at the broker for the first record. It bounds how long a cursor that
 * finds all requests under way must wait (FETCHING-2), nothing else.
 */
const waitMs = 500
const leaderWaitMs = 60_000
/** How long a partition may have records and yield none until FETCHING-5. */
const stallMs = 30_000
/** Partitions that one log line names. */
const namedMax = 20

type Place = {
  cursor: Cursor
  /** The topic's id where it began; undefined: not known yet, or brokers have none. */
  topicId: string | undefined
  isFetched: boolean
  isRemoved: boolean
  /** In a row. */
  failures: number
  failingSince: Milliseconds | undefined
  notBefore: Milliseconds
  stalledSince: Milliseconds | undefined
  stalls: number
}

type Lane = { node: Node; link: Link | undefined; isBusy: boolean }

export function createFetching({
  cluster,
  log,
  requestsMax,
  partitionBytesMax,
  bytesMax,
}: FetchingOptions): Fetching {
  const { clock } = cluster
  const places = new Map<Cursor, Place>()
  const lanes = new Map<number, Lane[]>()
  const complaint = createComplaint(clock)
  let isClosed = false
  let isWakeDue = false
  let cancelLater: (() => void) | undefined

  function wakeSoon(): void {
    if (isWakeDue || isClosed) return
    isWakeDue = true
    setImmediate(() => {
      isWakeDue = false
      wake()
    })
  }

  function wakeLater(ms: Milliseconds): void {
    cancelLater?.()
    cancelLater = clock.after(ms, wakeSoon)
  }

  function wake(): void {
    if (isClosed) return
    const now = clock.monotonic()
    const requests: FetchPlan[] = []
    let nextLook = Number.POSITIVE_INFINITY
    for (const place of [...places.values()]) {
      if (place.isFetched || !place.cursor.hasRoom()) continue
      if (place.notBefore > now) {
        nextLook = Math.min(nextLook, place.notBefore)
        continue
      }
      const node = leaderOf(place)
      if (node === undefined) continue
      if (requests.some((request) => request.node.id === node.id && joins(request, place))) continue
      requests.push({ node, sharers: new Map([[nameOf(place.cursor), [place]]]) })
    }
    if (nextLook < Number.POSITIVE_INFINITY) wakeLater(nextLook - now)
    for (const request of requests) {
      const lane = idleLane(request.node)
      if (lane !== undefined) void fetch(lane, [...request.sharers.values()])
    }
  }

  function leaderOf(place: Place): Node | undefined {
    const { topic: name, partition } = place.cursor
    const topic = cluster.known(name)
    if (topic?.id !== undefined) {
      place.topicId ??= topic.id
      if (place.topicId !== topic.id) {
        const why = `${name} was deleted and made again while it was read: what is known of it is worth nothing. Delete topics and groups together, and start again`
        fail(place, new WeirError('bus.commit-outside-log', why))
        return undefined
      }
    }
    const leader = topic?.leaders[partition]
    if (leader === undefined)
      troubled(
        [place],
        protocolError(topic === undefined ? unknownTopicOrPartition : leaderNotAvailable),
      )
    return leader
  }

  function idleLane(node: Node): Lane | undefined {
    const known = lanes.get(node.id) ?? []
    const usable = known.filter(
      (lane) => lane.isBusy || (lane.node.host === node.host && lane.node.port === node.port),
    )
    for (const lane of known) if (!usable.includes(lane)) lane.link?.close()
    lanes.set(node.id, usable)
    const idle = usable.find((lane) => !lane.isBusy)
    if (idle !== undefined || usable.length >= requestsMax) return idle
    const lane: Lane = { node, link: undefined, isBusy: false }
    usable.push(lane)
    return lane
  }

  /** By partition: those who read it from the same offset. */
  async function fetch(lane: Lane, sharers: Place[][]): Promise<void> {
    const wanted = sharers.flat()
    lane.isBusy = true
    for (const place of wanted) place.isFetched = true
    try {
      lane.link = lane.link?.isOpen ? lane.link : await cluster.connect(lane.node)
      if (isClosed) return lane.link.close()
      const partitions = sharers.flatMap(([place]) =>
        place === undefined
          ? []
          : [
              {
                topic: place.cursor.topic,
                partition: place.cursor.partition,
                from: place.cursor.next,
              },
            ],
      )
      const request = fetchRequest(partitions, { waitMs, bytesMax, partitionBytesMax })
      const answers = await lane.link.ask((broker) => sendRaw(broker, request), waitMs)
      for (const place of wanted) place.isFetched = false
      const byName = new Map(answers.map((answer) => [nameOf(answer), answer]))
      for (const place of wanted) {
        const answer = byName.get(nameOf(place.cursor))
        if (answer !== undefined && !place.isRemoved) take(place, answer, lane)
      }
    } catch (error) {
      for (const place of wanted) place.isFetched = false
      troubled(wanted, error)
    }
    lane.isBusy = false
    wake()
  }

  function take(place: Place, answer: FetchedPartition, lane: Lane): void {
    const { cursor } = place
    const { topic, partition, next: from } = cursor
    if (answer.errorCode === offsetOutOfRange) return void outOfRange(place)
    if (answer.errorCode !== 0) return troubled([place], protocolError(answer.errorCode))
    try {
      const { records, next } = decodeRecordSet(answer.set, {
        topic,
        partition,
        from,
        aborted: answer.aborted,
      })
      if (place.failures > 0 && complaint.isOver())
        log.info({ topic, partition }, 'reading goes on')
      place.failures = 0
      place.failingSince = undefined
      cursor.next = next
      noteStall(place, next > from || next >= answer.end, lane)
      if (records.length > 0) {
        places.delete(cursor) // a broker fills its answer in the order of the request: who got something is last in the next
        places.set(cursor, place)
        cursor.take(records, answer.end)
      } else if (next > from) cursor.passed?.()
      if (next >= answer.end) cursor.atEnd?.()
    } catch (error) {
      fail(place, asBusError(error, `read ${topic}/${partition}`))
    }
  }

  /** Keeps FETCHING-5. */
  function noteStall(place: Place, moves: boolean, lane: Lane): void {
    if (moves) {
      place.stalledSince = undefined
      place.stalls = 0
      return
    }
    const now = clock.monotonic()
    place.stalledSince ??= now
    if (now - place.stalledSince < stallMs) return
    const { topic, partition, next } = place.cursor
    place.stalledSince = undefined
    place.stalls += 1
    log.error(
      { topic, partition, offset: next },
      'a partition has records and yields none; its connection is made anew',
    )
    lane.link?.close()
    if (place.stalls < 3) return
    const why = `${topic}/${partition} has records from offset ${next} on, and the broker yields none: look into its log`
    fail(place, new WeirError('bus.record-unreadable', why))
  }

  function troubled(wanted: Place[], error: unknown): void {
    const trouble = troubleOf(error)
    const now = clock.monotonic()
    for (const place of wanted) {
      if (place.isRemoved) continue
      const { topic, partition } = place.cursor
      const doing = `read ${topic}/${partition}`
      place.failures += 1
      place.failingSince ??= now
      place.notBefore = now + backoffMs(place.failures)
      const isTopicGone =
        cluster.known(topic) === undefined && now - place.failingSince > leaderWaitMs
      if (trouble === 'lasting') fail(place, asBusError(error, doing))
      else if (isTopicGone && isReachable(error)) fail(place, asBusError(error, doing))
      else if (complaint.isDue(place.failingSince))
        log.warn(
          {
            reason: asBusError(error, doing).message,
            tries: place.failures,
            partitions: failingNames(),
          },
          'reading fails; it is tried again',
        )
    }
    if (trouble !== 'lasting' && !isClosed) cluster.refresh().then(wakeSoon, wakeSoon)
  }

  function failingNames(): string[] {
    const failing = [...places.values()].filter(({ failures }) => failures > 1)
    return failing.slice(0, namedMax).map(({ cursor }) => nameOf(cursor))
  }

  /** The ends tell whether it was before or behind. */
  async function outOfRange(place: Place): Promise<void> {
    const { topic, partition, next } = place.cursor
    place.isFetched = true // it waits for this
    try {
      const [ends] = await cluster.ends(topic, [partition])
      if (ends !== undefined && next >= ends.begin && next <= ends.end) {
        place.isFetched = false // a follower that has just become leader did not have it yet
        return troubled([place], protocolError(offsetNotAvailable))
      }
      if (ends !== undefined && next < ends.begin && place.cursor.skipsDeleted) {
        place.cursor.next = ends.begin
        place.isFetched = false
        return wakeSoon()
      }
      const log = ends === undefined ? 'the log' : `the log (${ends.begin} to ${ends.end})`
      const why = `${topic}/${partition}: offset ${next} was to be read and is outside ${log}. Retention has deleted it before it was read, or the topic was made again: delete topics and groups together, or restore the log`
      fail(place, new WeirError('bus.commit-outside-log', why))
    } catch (error) {
      fail(place, asBusError(error, `read ${topic}/${partition}`))
    }
  }

  function fail(place: Place, error: WeirError): void {
    if (place.isRemoved) return
    place.isRemoved = true
    places.delete(place.cursor)
    place.cursor.fail(error)
  }

  return {
    add(cursor) {
      const topicId = cluster.known(cursor.topic)?.id
      places.set(cursor, {
        ...{
          cursor,
          topicId,
          isFetched: false,
          isRemoved: false,
          failures: 0,
          stalls: 0,
          notBefore: Number.NEGATIVE_INFINITY,
        },
        ...{ failingSince: undefined, stalledSince: undefined },
      })
      wakeSoon()
    },

    remove(cursor) {
      const place = places.get(cursor)
      if (place === undefined) return
      place.isRemoved = true
      places.delete(cursor)
    },

    wake: wakeSoon,

    close() {
      isClosed = true
      cancelLater?.()
      places.clear()
      for (const { link } of [...lanes.values()].flat()) link?.close()
    },
  }
}

/** One request: by partition, those who read it from the same offset. */
type FetchPlan = { node: Node; sharers: Map<string, Place[]> }

/** A request names a partition once. Who reads it from another offset needs another one. */
function joins({ sharers }: FetchPlan, place: Place): boolean {
  const name = nameOf(place.cursor)
  const others = sharers.get(name)
  if (others === undefined) sharers.set(name, [place])
  else if (others[0]?.cursor.next === place.cursor.next) others.push(place)
  else return false
  return true
}

function nameOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`
}

function isReachable(error: unknown): boolean {
  return asBusError(error, '').code !== 'bus.unreachable'
}

const offsetOutOfRange = 1
const unknownTopicOrPartition = 3
const leaderNotAvailable = 5
const offsetNotAvailable = 78
