// Tables as their readers see them. Each requested (topic, partition) gets a view (table-view.ts),
// which follows the topic from the partition's leader, without a consumer group. So an inbox and its
// table may be on different members, and a moved partition finds its view on the new owner at once.
// The first answer waits until the view reaches the end that the topic had at the call.
// An answer has all earlier writes of this process; those of others come a moment later.
// To prove that an entry is absent, list up to now: the topic's end at the call.
// A view without requests is dropped after a while. Its stored copy stays.
// A table that was created again under this process has no answers: its settings are gone, and
// an empty answer would mean that nobody had set them.

import type { Bus } from '../../../contract/bus.ts'
import { partitionName } from '../../../contract/partition.ts'
import type { WeirError } from '../../../lib/errors.ts'
import { asBusError, assertOpen } from '../failure.ts'
import type { Writer } from '../write/writer.ts'
import type { TableName } from './table-store.ts'
import { openTableView, type TableView, type TableViewOptions } from './table-view.ts'

/** How long a view is followed after its last request, and how often that is checked. */
const idleMs = 10 * 60 * 1000
const sweepMs = 60 * 1000

export type Tables = Pick<Bus, 'list' | 'get' | 'keys'> & { close(): void }

export type TablesOptions = Omit<TableViewOptions, 'onFailed'> & { writtenTo: Writer['writtenTo'] }

export function createTables({
  cluster,
  fetching,
  store,
  writtenTo,
  closed,
  accepts,
}: TablesOptions): Tables {
  const { clock } = cluster
  const views = new Map<string, Promise<TableView>>()
  let cancelSweep = clock.after(sweepMs, sweep)
  closed.addEventListener('abort', () => {
    for (const opening of views.values()) opening.then((view) => view.wake()).catch(() => {})
  })

  /** The open view, or a new one, which leaves the map as soon as it fails. */
  function sharedView(table: TableName): Promise<TableView> {
    const name = partitionName(table)
    const known = views.get(name)
    if (known !== undefined) return known
    const onFailed = (): void => void views.delete(name)
    const opening = openTableView({ cluster, fetching, store, closed, accepts, onFailed }, table)
    views.set(name, opening)
    opening.catch(() => {
      if (views.get(name) === opening) views.delete(name) // a newer one stays
    })
    return opening
  }

  /** A view whose log lost records is replaced by a new one. */
  async function viewOf(table: TableName, upToNow = false): Promise<TableView> {
    for (;;) {
      assertOpen(closed)
      try {
        const view = await sharedView(table)
        view.requestedAt = clock.monotonic()
        const written = writtenTo(table.topic, table.partition)
        if (written !== undefined && written.topicId === view.topicId)
          await view.reached(written.end)
        if (upToNow) {
          const [ends] = await cluster.ends(table.topic, [table.partition])
          await view.reached(ends?.end ?? 0)
        }
        cluster.assertNotRecreated(table.topic)
        return view
      } catch (error) {
        cluster.assertNotRecreated(table.topic)
        if ((error as Partial<WeirError>).code !== 'bus.commit-outside-log')
          throw asBusError(error, {
            text: `read the table ${partitionName(table)}`,
            right: `Read on topic ${table.topic}`,
          })
      }
    }
  }

  /**
   * A copy is confirmed only if the broker reported its end since the last sweep:
   * while the broker is away, tombstones may come and go.
   */
  function sweep(): void {
    const now = clock.monotonic()
    for (const [name, opening] of views)
      opening.then(
        (view) => {
          if (view.isCurrent(now - sweepMs)) view.table.confirm()
          const isIdle = now - view.requestedAt >= idleMs && !view.hasWaiters()
          if (!isIdle || views.get(name) !== opening) return
          views.delete(name)
          view.close()
        },
        () => {},
      )
    if (!closed.aborted) cancelSweep = clock.after(sweepMs, sweep)
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
        await view.changed(left)
      }
    },

    close() {
      cancelSweep()
      store.close()
    },
  }
}
