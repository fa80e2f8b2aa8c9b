// Tables as their readers see them: a view of each (topic, partition) that somebody asked for,
// which follows the topic from then on (table-store.ts keeps it). It reads from the partition's
// leader without a group, whichever stage this process has which partitions of; so no assignment
// has to keep an inbox and its table together, and a partition that moves finds its view on the new
// owner as soon as it is asked for.
// TABLES-1. The first answer comes when the view has reached the end that the topic had when it was
//     first asked.
// TABLES-2. Every answer has what this process wrote before the question. What others wrote is in
//     it a moment later: who needs a certain entry waits for it, and who must know that there is
//     none asks for a list up to now, which is the topic's end at that moment.
// TABLES-3. A view that nobody asks for is not followed for ever; what is stored of it stays.

import type { Bus, Offset } from '../../contract/bus.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import type { Cluster } from './cluster.ts'
import { asBusError } from './failure.ts'
import type { Cursor } from './fetch-cursors.ts'
import type { Fetching } from './fetching.ts'
import type { StoredTable, TableName, TableStore } from './table-store.ts'
import type { Writer } from './writer.ts'

/** How long a view is followed after the last question, and how often that is looked at. */
const idleMs = 10 * 60 * 1000
const lookMs = 60 * 1000

export type Tables = Pick<Bus, 'list' | 'get' | 'keys'> & { close(): void }

type View = {
  table: StoredTable
  topicId: string | undefined
  cursor: Cursor
  askedAt: Milliseconds
  /** When an answer of the broker last said that nothing is behind what we have. */
  atEndAt: Milliseconds | undefined
  failure: WeirError | undefined
  /** The ends of those who wait for a change; each is woken once. */
  waiting: Set<() => void>
}

export type TablesOptions = {
  cluster: Cluster
  fetching: Fetching
  store: TableStore
  writtenTo: Writer['writtenTo']
  closed: AbortSignal
}

export function createTables({
  cluster,
  fetching,
  store,
  writtenTo,
  closed,
}: TablesOptions): Tables {
  const { clock } = cluster
  const views = new Map<string, Promise<View>>()
  let cancelLook = clock.after(lookMs, look)
  closed.addEventListener('abort', () => {
    for (const opening of views.values()) opening.then(wakeAll, () => {})
  })

  async function open({ topic, partition }: TableName): Promise<View> {
    if ((await cluster.kind(topic)) !== 'table')
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} is a log, which has no newest value of a key: read or follow it`,
      )
    const { leaders, id } = await cluster.topic(topic)
    if (!(partition >= 0 && partition < leaders.length))
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} has partitions 0 to ${leaders.length - 1}, and ${partition} was asked for`,
      )
    const [ends] = await cluster.ends(topic, [partition])
    const end = ends?.end ?? 0
    assertOpen()
    const table = store.table({ topic, partition, topicId: id, end })
    const cursor: Cursor = {
      ...{ topic, partition, next: table.next, skipsDeleted: true },
      hasRoom: () => true,
      onRecords(records) {
        try {
          table.write(records, cursor.next)
        } catch (error) {
          fail(
            new WeirError(
              'bus.unwritable',
              `the table ${topic}/${partition} cannot be kept in ${store.file ?? 'memory'}: ${error}`,
              {
                cause: error,
              },
            ),
          )
          fetching.remove(cursor)
        }
        wakeAll(view)
      },
      onSkipped: () => wakeAll(view),
      onEnd() {
        view.atEndAt = clock.monotonic()
      },
      onFailed: fail,
    }
    const view: View = {
      table,
      topicId: id,
      cursor,
      askedAt: clock.monotonic(),
      atEndAt: undefined,
      failure: undefined,
      waiting: new Set(),
    }
    fetching.add(cursor)
    await reached(view, end)
    return view

    function fail(error: WeirError): void {
      view.failure = error
      views.delete(nameOf({ topic, partition }))
      wakeAll(view)
    }
  }

  /** A view that failed because its topic was made again is simply another one. */
  async function viewOf(name: TableName, upToNow = false): Promise<View> {
    for (;;) {
      assertOpen()
      let opening = views.get(nameOf(name))
      if (opening === undefined) {
        const mine = open(name)
        opening = mine
        views.set(nameOf(name), mine)
        mine.catch(() => {
          if (views.get(nameOf(name)) === mine) views.delete(nameOf(name)) // else another is there already
        })
      }
      try {
        const view = await opening
        view.askedAt = clock.monotonic()
        const written = writtenTo(name.topic, name.partition)
        if (written !== undefined && written.topicId === view.topicId)
          await reached(view, written.end)
        if (upToNow) {
          const [ends] = await cluster.ends(name.topic, [name.partition])
          await reached(view, ends?.end ?? 0)
        }
        return view
      } catch (error) {
        if ((error as Partial<WeirError>).code !== 'bus.commit-outside-log')
          throw asBusError(error, `read the table ${nameOf(name)}`)
      }
    }
  }

  async function reached(view: View, end: Offset): Promise<void> {
    while (view.cursor.next < end) {
      if (view.failure !== undefined) throw view.failure
      await changed(view)
      assertOpen()
    }
  }

  /** Resolves at the next change, when the bus is closed, or after `ms`. */
  function changed(view: View, ms?: Milliseconds): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === undefined ? () => {} : clock.after(ms, done)
      view.waiting.add(done)
      if (closed.aborted) done()
      function done(): void {
        cancel()
        view.waiting.delete(done)
        resolve()
      }
    })
  }

  function wakeAll(view: View): void {
    for (const wake of [...view.waiting]) wake()
  }

  /**
   * Keeps TABLES-3. A copy is confirmed only where the broker has said so since the last look:
   * while it is away, tombstones may come and go.
   */
  function look(): void {
    const now = clock.monotonic()
    for (const [name, opening] of views)
      opening.then(
        (view) => {
          const isAtEnd =
            view.atEndAt !== undefined &&
            now - view.atEndAt <= lookMs &&
            view.cursor.next === view.table.next
          if (isAtEnd && view.failure === undefined) view.table.confirm()
          if (now - view.askedAt < idleMs || view.waiting.size > 0 || views.get(name) !== opening)
            return
          views.delete(name)
          fetching.remove(view.cursor)
        },
        () => {},
      )
    if (!closed.aborted) cancelLook = clock.after(lookMs, look)
  }

  function assertOpen(): void {
    if (closed.aborted) throw new WeirError('bus.closed', 'the bus is closed: open it again')
  }

  return {
    async list({ prefix, upToNow, ...name }) {
      return (await viewOf(name, upToNow)).table.newestWithPrefix(prefix)
    },

    async keys({ after, limit, ...name }) {
      return (await viewOf(name)).table.keys({ after, limit })
    },

    async get({ key, waitMs, ...name }) {
      const deadline = clock.monotonic() + waitMs
      for (;;) {
        const view = await viewOf(name)
        const found = view.table.newest(key)
        const left = deadline - clock.monotonic()
        if (found !== undefined || left <= 0) return found
        await changed(view, left)
      }
    },

    close() {
      cancelLook()
      store.close()
    },
  }
}

function nameOf({ topic, partition }: TableName): string {
  return `${topic}/${partition}`
}
