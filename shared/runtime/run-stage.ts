// Runs one stage on a bus: a consumer group over its inbox. Each assigned partition has a fold, and
// a performer if the stage has one.

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { followSince } from '../bus/range.ts'
import { decode } from '../codec/codec.ts'
import type { Appended, Bus, Subscription } from '../contract/bus.ts'
import type { Message } from '../contract/messages.ts'
import type { PerformerContext, StartPerformer } from '../contract/performer.ts'
import type { Output, Stage } from '../contract/stage.ts'
import { guardTopicName, type Port, stages, topicOf } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { WeirError } from '../lib/errors.ts'
import { budgetLog } from './budgets/budget-log.ts'
import { historyReader } from './history-reader.ts'
import type { Instruments } from './instruments.ts'
import { writeObservation } from './observation.ts'
import { readPartition } from './partition.ts'
import { toRecord } from './record.ts'
import { policyReader } from './settings/policy-reader.ts'

/**
 * Memory for history entries that a gateway keeps for one partition. The next round then need not
 * read them again. The history that was read last may have historyBytesMax.
 */
const historyKeptBytesMax = 8 * 1024 * 1024

/** A stage with its side effects, as services/stages.ts lists them. */
export type StageEntry<State, In extends Message, Task> = {
  stage: Stage<State, In, Task>
  startPerformer?: StartPerformer<Task>
  /** Called for each output of the reducer, once it is acknowledged. Only for logs. */
  observed?: (message: Message, log: Logger) => void
}

export type RunOptions = {
  bus: Bus
  /** Prefix of topics and groups, e.g. `weir.`. */
  topicPrefix: string
  /**
   * The number of partitions of every topic. A record in another partition than its conversation's
   * goes to dead-letters. Undefined: not checked.
   */
  partitions?: number
  log: Logger
  instruments?: Instruments | undefined
  /** A new random id; seeded in simulation. Default: 128 bits from the system. */
  randomId?: () => string
}

/**
 * Resolves when the stage is subscribed; its topics must exist. The subscription's `failed` rejects
 * when the stage stops by an error. That includes an observation that its performer could not
 * write, because a unit would wait for it until the turn expires.
 */
export async function runStage<State, In extends Message, Task>(
  entry: StageEntry<State, In, Task>,
  options: RunOptions,
): Promise<Subscription> {
  const { bus, topicPrefix, instruments } = options
  const { stage, startPerformer, observed } = entry
  const log = options.log.child({ stage: stage.name })
  const topic = topicPrefix + stages[stage.name].inbox
  const { promise: writeFailed, reject: onWriteFailed } = Promise.withResolvers<never>()
  const subscription = await bus.subscribe({
    group: topicPrefix + stage.name,
    topic,
    async assign(assignment) {
      const partition = assignment.ends.partition
      const logTime = createLogTime()
      const performer = startPerformer?.(
        performerContext({ ...options, log, stage: stage.name, partition, onWriteFailed, logTime }),
      )
      const reader = readPartition({
        bus,
        stage,
        topicPrefix,
        partitions: options.partitions,
        assignment,
        performer,
        observed: observed && ((output: Output) => observed(output.message, log)),
        instruments,
        log,
      })
      return {
        ...reader,
        read(records) {
          logTime.update(records)
          return reader.read(records)
        },
      }
    },
  })
  const failed = Promise.race([subscription.failed, writeFailed])
  failed.catch(() => {}) // a caller that ignores it must not crash
  return {
    get joined() {
      return subscription.joined
    },
    get damaged() {
      return subscription.damaged ?? noneDamaged
    },
    get unready() {
      return subscription.unready
    },
    failed,
    close: () => subscription.close(),
  }
}

const noneDamaged: ReadonlyMap<number, string> = new Map()

/** `onWriteFailed`: called with the error if an observation could not be written. */
type ContextOptions = RunOptions & {
  stage: keyof typeof stages
  partition: number
  onWriteFailed: (error: unknown) => void
  logTime: ReturnType<typeof createLogTime>
}

/** The newest append time that was read: this machine's own clock could be wrong by a week. */
function createLogTime() {
  let newest: Milliseconds | undefined
  return {
    update(records: { time: Milliseconds }[]): void {
      const time = records.at(-1)?.time
      if (time !== undefined) newest = Math.max(newest ?? time, time)
    },
    value: () => newest,
  }
}

function performerContext({
  bus,
  topicPrefix,
  log,
  stage,
  partition,
  instruments,
  randomId = systemRandomId,
  onWriteFailed,
  logTime,
}: ContextOptions): PerformerContext {
  async function write(entries: { to: Port; message: Message }[]): Promise<Appended[]> {
    const written = entries.map(({ to, message }) => {
      const topic = topicOf(stage, to, message)
      if (topic === undefined)
        throw new WeirError(
          'runtime.assertion',
          `${stage} has no port ${to}; see shared/contract/topology.ts`,
        )
      return toRecord({ topic: topicPrefix + topic, partition, message })
    })
    try {
      const appended = await writeObservation(bus, written, log)
      instruments?.observed(stage, { messages: entries.map(({ message }) => message), written })
      logTime.update(appended)
      return appended
    } catch (error) {
      onWriteFailed(error)
      throw error
    }
  }

  const owner = randomId()
  bus.addOwner?.(owner)
  return {
    owner,
    partition,
    clock: bus.clock,
    machineClock: bus.machineClock,
    log,
    formerOwnersDead: bus.provesFormerOwnersDead,
    hasEnded: bus.hasEnded,
    randomId,
    write: (to, messages) => write(messages.map((message) => ({ to, message }))),
    writeWhole: bus.appendsWhole ? write : undefined,
    history: historyReader({
      bus,
      topic: `${topicPrefix}history`,
      partition,
      bytesMax: historyKeptBytesMax,
    }),
    async kept(key, waitMs) {
      const record = await bus.get({ topic: `${topicPrefix}history`, partition, key, waitMs })
      return record === undefined || record.value === null ? undefined : decode(record.value)
    },
    ...policyReader({ bus, topicPrefix }),
    async *guardVerdicts({ guard, since, signal }) {
      const topic = topicPrefix + guardTopicName(guard)
      yield* followSince(bus, { topic, partition, since, signal })
    },
    budgets: budgetLog({
      bus,
      topicPrefix,
      log,
      onWritten: (message, record) =>
        instruments?.observed(stage, { messages: [message], written: [record] }),
    }),
    historyTable: {
      logTime: logTime.value,
      keys: (after, limit) => bus.keys({ topic: `${topicPrefix}history`, partition, after, limit }),
      async forget(keys) {
        await bus.append(
          keys.map((key) => ({ topic: `${topicPrefix}history`, partition, key, value: null })),
        )
      },
    },
  }
}

/** Node keeps random bytes ready for UUIDs. One system call an id would take longer. */
function systemRandomId(): string {
  return randomUUID().replaceAll('-', '')
}
