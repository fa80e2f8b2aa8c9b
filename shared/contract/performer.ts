// The contract of a performer: the side effects of a stage. Only llm-gateway and executor have one.
// It acts on caught-up state only, and after the outputs are acknowledged, unless
// its stage acts ahead. The runtime calls reconcile() no earlier (R4).
// It writes observations into its own stage's inbox. Observations ahead of a
// decision (parts, tool-started) decide nothing by themselves.

import type { Logger } from 'pino'
import type { Clock, Milliseconds } from '../lib/clock.ts'
import type { Appended, StoredRecord, TableKey } from './bus.ts'
import type { RoundId } from './ids.ts'
import type { Message } from './messages.ts'
import type { Port } from './topology.ts'

/** A record of the table `policies`. `time`: its append time. */
export type PolicyRecord = { key: string; message: Message; time: Milliseconds }

export type PerformerContext = {
  /** New for every assignment of the partition, and not persisted (R4). */
  readonly owner: string
  readonly partition: number
  /** Its wall time is the log's (Bus.clock). */
  readonly clock: Clock
  /** The clock of this machine, for durations. Absent: `clock` is that clock. */
  readonly machineClock?: Clock | undefined
  readonly log: Logger
  /** The previous owner of this partition is certainly dead (embedded: the file's lock). */
  readonly formerOwnersDead: boolean
  /** The process of this owner has certainly ended. Absent: false. */
  hasEnded?: ((owner: string) => boolean) | undefined
  /** A random id, 128 bits of hex; seeded in simulation. */
  randomId(): string
  /**
   * Writes observed records in order. Resolves when all are acknowledged. Rejects when the bus
   * stops retrying.
   */
  write(to: Port, messages: Message[]): Promise<Appended[]>
  /**
   * Writes to several topics, all or nothing. Undefined if the bus cannot: then write one after the
   * other.
   */
  readonly writeWhole?:
    | ((entries: { to: Port; message: Message }[]) => Promise<Appended[]>)
    | undefined
  /**
   * The entries of a conversation's history, in order of (turn, round), when the entry (turn,
   * round) exists. Undefined if it does not appear within `waitMs`. `after`: called once it exists.
   * Entries up to that place may be left out, except the message of the open turn.
   */
  history(
    upTo: RoundId,
    waitMs: Milliseconds,
    after?: () => Promise<HistoryPlace | undefined>,
  ): Promise<Message[] | undefined>
  /**
   * The record of the table `history` under this key. Undefined if it does not appear within
   * `waitMs`.
   */
  kept(key: string, waitMs: Milliseconds): Promise<Message | undefined>
  /** A record of the table `policies`, or undefined. */
  policy(key: string): Promise<Message | undefined>
  /**
   * The records of the table `policies` whose keys begin with one of these prefixes, by one read.
   * Rejects if one of them cannot be read.
   */
  policies(...prefixes: string[]): Promise<PolicyRecord[]>
  /**
   * Batches of this partition of a guard's topic, from about `since` on, until `signal` aborts.
   * They are not decoded, because any program may write there. Rejects if the topic cannot be read.
   */
  guardVerdicts(of: {
    guard: string
    since: Milliseconds
    signal: AbortSignal
  }): AsyncIterable<StoredRecord[]>
  readonly historyTable: HistoryTable
  readonly budgets: BudgetLog
}

/** The topic `budgets`. The records of a tenant or an account are in one partition, which may be any. */
export type BudgetLog = {
  /** The partition of a key. Rejects if the topic is missing. */
  partitionOf(key: string): Promise<number>
  /** A text that the processes of this deployment share, and no other deployment has. */
  salt(): Promise<string>
  /** Resolves when the record is acknowledged. Rejects when the bus stops retrying. */
  append(key: string, message: Message): Promise<Appended>
  /**
   * Batches of a partition, from about `since` on, until `signal` aborts. Rejects if the topic cannot
   * be read.
   */
  follow(of: {
    partition: number
    since: Milliseconds
    signal: AbortSignal
  }): AsyncIterable<StoredRecord[]>
}

/** A round in a conversation. Round 0 of a turn is the user's message. */
export type HistoryPlace = { turn: number; round: number }

/** Negative: `a` is before `b`. */
export function comparedPlaces(a: HistoryPlace, b: HistoryPlace): number {
  return a.turn - b.turn || a.round - b.round
}

/** The table `history` in this partition, for the removal of old entries. */
export type HistoryTable = {
  /**
   * The newest append time that this owner has seen, in its inbox or in an acknowledgement. Not
   * later than the log's own. Undefined before the first.
   */
  logTime(): Milliseconds | undefined
  /** As Bus.keys. */
  keys(after: string | undefined, limit: number): Promise<TableKey[]>
  /**
   * Writes a tombstone for each key, even if the key has one already. Resolves when all are
   * acknowledged.
   */
  forget(keys: string[]): Promise<void>
}

export type Performer<Task> = {
  /**
   * Called after each change with all effects that an open unit needs now, and with [] when the
   * unit has closed. Starts missing effects and stops the others. Returns at once and must not
   * throw. Its failures become observations.
   */
  reconcile(unit: string, tasks: Task[]): void
  /** The outputs that led to the calls of `reconcile` so far are acknowledged. Must not throw. */
  acknowledged?(): void
  /**
   * Releases effects that have not started. Lets running work end within its grace (`shutdown`) or
   * aborts it (`lost`). Resolves when no work runs.
   */
  close(how: 'shutdown' | 'lost'): Promise<void>
}

/** Called once for each assignment of a partition. */
export type StartPerformer<Task> = (context: PerformerContext) => Performer<Task>
