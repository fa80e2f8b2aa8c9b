// A view of one partition of a table: its stored copy, the cursor that keeps it current, and the
// calls that wait for a change.

import type { Offset, StoredRecord } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { type Cluster, topicOf } from '../cluster/cluster.ts'
import { assertOpen } from '../failure.ts'
import type { Cursor } from '../fetch/fetch-cursors.ts'
import type { Fetching } from '../fetch/fetching.ts'
import type { StoredTable, TableName, TableStore } from './table-store.ts'

export type TableView = {
  readonly table: StoredTable
  readonly topicId: string | undefined
  requestedAt: Milliseconds
  /** Resolves when the view has all records before `end`. Rejects if the view fails. */
  reached(end: Offset): Promise<void>
  /** Resolves at the next change, when the bus closes, or after `ms`. */
  changed(ms?: Milliseconds): Promise<void>
  hasWaiters(): boolean
  /** Did the broker report since `time` that nothing is after the stored copy? */
  isCurrent(time: Milliseconds): boolean
  wake(): void
  close(): void
}

export type TableViewOptions = {
  cluster: Cluster
  fetching: Fetching
  store: TableStore
  closed: AbortSignal
  /** Whether a view keeps a record. Default: all. */
  accepts?: ((record: StoredRecord) => boolean) | undefined
  onFailed(): void
}

/** Resolves when the view reaches the end that the topic has now. */
export async function openTableView(
  options: TableViewOptions,
  { topic, partition }: TableName,
): Promise<TableView> {
  const { cluster, store, closed } = options
  if ((await cluster.kind(topic)) !== 'table')
    throw new WeirError(
      'bus.topic-differs',
      `topic ${topic} is a log, which has no newest value of a key: read or follow it`,
    )
  const { id } = await topicOf(cluster, { topic, partition })
  const [ends] = await cluster.ends(topic, [partition])
  const end = ends?.end ?? 0
  assertOpen(closed)
  const view = createTableView(options, store.table({ topic, partition, topicId: id, end }), id)
  await view.reached(end)
  return view
}

function createTableView(
  { cluster: { clock }, fetching, store, closed, accepts, onFailed }: TableViewOptions,
  table: StoredTable,
  topicId: string | undefined,
): TableView {
  const { topic, partition } = table.name
  /** Each is called once. */
  const waiters = new Set<() => void>()
  let failure: WeirError | undefined
  let atEndAt: Milliseconds | undefined

  const cursor: Cursor = {
    topic,
    partition,
    next: table.next,
    skipsDeleted: true,
    hasRoom: () => true,
    onRecords(records) {
      try {
        table.write(accepts === undefined ? records : records.filter(accepts), cursor.next)
      } catch (error) {
        fail(unwritable(table.name, store.file, error))
        fetching.remove(cursor)
      }
      wake()
    },
    onSkipped: wake,
    onEnd() {
      atEndAt = clock.monotonic()
    },
    onFailed: fail,
  }

  function fail(error: WeirError): void {
    failure = error
    onFailed()
    wake()
  }

  function wake(): void {
    for (const waiter of [...waiters]) waiter()
  }

  function changed(ms?: Milliseconds): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === undefined ? () => {} : clock.after(ms, done)
      waiters.add(done)
      if (closed.aborted) done()
      function done(): void {
        cancel()
        waiters.delete(done)
        resolve()
      }
    })
  }

  fetching.add(cursor)
  return {
    table,
    topicId,
    requestedAt: clock.monotonic(),
    changed,
    wake,
    hasWaiters: () => waiters.size > 0,
    close: () => fetching.remove(cursor),

    async reached(end) {
      while (cursor.next < end) {
        if (failure !== undefined) throw failure
        await changed()
        assertOpen(closed)
      }
    },

    isCurrent: (time) =>
      failure === undefined &&
      atEndAt !== undefined &&
      atEndAt >= time &&
      cursor.next === table.next,
  }
}

function unwritable(
  { topic, partition }: TableName,
  file: string | undefined,
  cause: unknown,
): WeirError {
  const why = `cannot store the table ${topic}/${partition} in ${file ?? 'memory'}: ${cause}`
  return new WeirError('bus.unwritable', why, { cause })
}
