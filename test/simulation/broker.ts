// The broker of a simulation: the storage in virtual time, and the readers that wait for records.
// It never fails. The faults are between it and the processes (sender.ts, partition-loop.ts,
// coordinator.ts).

import type {
  Appended,
  Commit,
  Offset,
  RecordToAppend,
  StoredRecord,
} from '../../shared/contract/bus.ts'
import type { Storage } from './storage.ts'

export type CommitMade = Commit & { group: string; topic: string; partition: number }

export type Broker = {
  readonly log: Storage
  /** All accepted commits, in order. */
  readonly commits: readonly CommitMade[]
  land(records: RecordToAppend[]): Appended[]
  commit(commit: CommitMade): void
  /** All records of a topic's partition, in order. */
  records(topic: string, partition: number): StoredRecord[]
  /**
   * Calls back once, as soon as the partition has a record at `from`. Returns a function that
   * cancels the wait.
   */
  whenGrown(topic: string, partition: number, from: Offset, call: () => void): () => void
  /** Called for each appended record. */
  onLanded(listen: (record: StoredRecord) => void): void
}

export function createBroker(log: Storage): Broker {
  const waiting = new Map<string, Set<{ from: Offset; call: () => void }>>()
  const commits: CommitMade[] = []
  const listeners: ((record: StoredRecord) => void)[] = []

  return {
    log,
    commits,
    land(records) {
      const { appended, grown } = log.write({ records, commits: [] })
      for (const [i, at] of appended.entries())
        for (const listen of listeners) listen({ ...(records[i] as RecordToAppend), ...at })
      for (const { topic, partition } of grown) {
        const waiters = waiting.get(`${topic}/${partition}`)
        if (waiters === undefined) continue
        const end = log.end({ topic, partition })
        for (const waiter of [...waiters]) {
          if (waiter.from >= end) continue
          waiters.delete(waiter)
          waiter.call()
        }
      }
      return appended
    },
    commit(commit) {
      commits.push(commit)
      log.write({ records: [], commits: [commit] })
    },
    records: (topic, partition) =>
      log.read({ topic, partition, from: 0, limit: Number.MAX_SAFE_INTEGER }),
    whenGrown(topic, partition, from, call) {
      if (log.end({ topic, partition }) > from) {
        call()
        return () => {}
      }
      const name = `${topic}/${partition}`
      const waiters = waiting.get(name) ?? new Set()
      waiting.set(name, waiters)
      const waiter = { from, call }
      waiters.add(waiter)
      return () => waiters.delete(waiter)
    },
    onLanded: (listen) => listeners.push(listen),
  }
}
