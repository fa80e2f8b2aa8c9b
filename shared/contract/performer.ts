// The contract of a performer: the side effects of a stage. Only llm-gateway and executor have one.
// CONTRACT-PERFORMER-1. It acts on acknowledged, caught-up state only: the runtime calls
//     reconcile() no earlier (R4).
// CONTRACT-PERFORMER-2. It writes observations into its own stage's inbox; what goes ahead of a
//     decision (parts, tool-started) counts for nothing by itself.

import type { Logger } from 'pino'
import type { Clock, Milliseconds } from '../lib/clock.ts'
import type { Appended, StoredRecord, TableKey } from './bus.ts'
import type { Message } from './messages.ts'
import type { Port } from './topology.ts'

export type PerformerContext = {
  /** New for every assignment of the partition, kept nowhere (R4). */
  readonly owner: string
  readonly partition: number
  readonly clock: Clock
  readonly log: Logger
  /** Whoever owned this partition before is certainly dead (embedded: the file's lock). */
  readonly formerOwnersDead: boolean
  /** A random id, 128 bits of hex; seeded in simulation. */
  randomId(): string
  /**
   * Writes observed records, in order; resolves when all are acknowledged. Rejects when the bus
   * gave up.
   */
  write(to: Port, messages: Message[]): Promise<Appended[]>
  /**
   * The same to several places, all or nothing. Undefined where the bus cannot: then write one
   * after the other.
   */
  readonly writeWhole?:
    | ((entries: { to: Port; message: Message }[]) => Promise<Appended[]>)
    | undefined
  /**
   * The entries of a conversation's history, in order of (turn, round), once the entry (turn,
   * round) is there; undefined if it is not within `waitMs`.
   */
  history(
    upTo: { conversation: string; turn: number; round: number },
    waitMs: Milliseconds,
  ): Promise<Message[] | undefined>
  /** A record of the table `policies`, or undefined. */
  policy(key: string): Promise<Message | undefined>
  /**
   * The records of the table `policies` whose keys begin with `prefix`. Rejects when one of them
   * cannot be read.
   */
  policies(prefix: string): Promise<Message[]>
  /**
   * Batches of this partition of a guard's topic, from about `since` on and as they come, until
   * `signal` aborts; undecoded, because anybody may have written anything there. Rejects when the
   * topic cannot be read.
   */
  guardVerdicts(of: {
    guard: string
    since: Milliseconds
    signal: AbortSignal
  }): AsyncIterable<StoredRecord[]>
  readonly historyTable: HistoryTable
}

/** The table `history` in this partition, for who takes out of it what is old. */
export type HistoryTable = {
  /**
   * The newest append time that this owner has read in its inbox or was told for a write: no later
   * than the log's own. Undefined before the first.
   */
  logTime(): Milliseconds | undefined
  /** As Bus.keys. */
  keys(after: string | undefined, limit: number): Promise<TableKey[]>
  /**
   * Writes a tombstone for each key; resolves when all are acknowledged. A key that has none
   * already gets one too.
   */
  forget(keys: string[]): Promise<void>
}

export type Performer<Task> = {
  /**
   * Called with all that an open unit wants now, after each change; with [] when the unit has
   * closed. Starts what is wanted and does not run, stops what runs and is not wanted. Returns at
   * once and must not throw; its own failures become observations.
   */
  reconcile(unit: string, tasks: Task[]): void
  /**
   * Gives back what was not started, lets running work end within its grace (`shutdown`) or aborts
   * it (`lost`); resolves when nothing runs.
   */
  close(how: 'shutdown' | 'lost'): Promise<void>
}

/** Called once for each assignment of a partition. */
export type StartPerformer<Task> = (context: PerformerContext) => Performer<Task>
