// The metrics of a process that runs stages, for Prometheus: what its stages read, wrote and
// decided, and how far they are behind.
// METRICS-1. No label holds an id, a name that an agent file gives, or anything else that grows
//     with use: values are stages, the guards that this process was started with, partitions,
//     message types, and symbols of schemas.
// METRICS-2. What a stage wrote counts when it is acknowledged. Records are delivered at least
//     once, so after a crash a few may count twice.
// METRICS-3. One registry for each process instance; the library's global one stays empty.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { typeIn } from '../../shared/codec/codec.ts'
import type { Offset, RecordToAppend, StoredRecord } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import type { StageName } from '../../shared/contract/topology.ts'
import type { Clock } from '../../shared/lib/clock.ts'
import { errorCodes } from '../../shared/lib/errors.ts'
import type { GuardInstruments } from '../../shared/runtime/guards/guard-instruments.ts'
import type { Instruments } from '../../shared/runtime/instruments.ts'
import { createGuardMetrics } from './guard-metrics.ts'
import type { Lag } from './lag.ts'
import { type ReaderName, type ReadPartitions, readerOfGuard, readOn } from './read-partitions.ts'

export type MetricsOptions = {
  stages: readonly StageName[]
  /** Names of the guards that run in this process; default: none. */
  guards?: readonly string[]
  partitions: ReadPartitions
  clock: Pick<Clock, 'now'>
  /** Answers with nothing for what is not known. */
  lags: () => Promise<Lag[]>
  /** Also of the process: CPU, memory, event loop, garbage collection. */
  ofProcess: boolean
}

export type Metrics = {
  readonly instruments: Instruments
  readonly guardInstruments: GuardInstruments
  /** In Prometheus' text format; `contentType` says which version. */
  text(): Promise<string>
  readonly contentType: string
}

/** Seconds; a tool may declare up to an hour. */
const durationBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600]

/**
 * How often the event loop's delay is measured. The library's default wakes an idle process a
 * hundred times a second.
 */
const eventLoopLookMs = 100

export function createMetrics(options: MetricsOptions): Metrics {
  const { stages, guards = [], partitions, clock } = options
  const registry = new Registry()
  const flow = flowCounters(registry)
  const decisions = decisionCounters(registry)
  addGauges(registry, options)
  const lag = lagGauges(registry)
  if (options.ofProcess)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopLookMs })
  const guardInstruments = createGuardMetrics({ registry, guards, partitions, clock })
  for (const stage of stages)
    for (const counter of [flow.readBytes, flow.writtenBytes, flow.foldedAgain])
      counter.inc({ stage }, 0)

  return {
    contentType: registry.contentType,
    guardInstruments,

    async text() {
      const lags = await options.lags()
      for (const gauge of [lag.records, lag.seconds]) gauge.reset() // partitions that went away must not stay
      for (const { stage, partition, records, seconds } of lags) {
        lag.records.set({ stage, partition }, records)
        lag.seconds.set({ stage, partition }, seconds)
      }
      return registry.metrics()
    },

    instruments: {
      assigned(partition) {
        const { stage, done } = partition
        const read = partitions.add(partition)
        return {
          acknowledged(step) {
            took(stage, done, step.read)
            wrote(stage, messagesOf(step.outputs), step.written)
            readOn(read, step.read)
          },
          closed: () => partitions.remove(read),
        }
      },
      observed(stage, { messages, written }) {
        wrote(stage, messages, written)
      },
    },
  }

  function took(stage: StageName, done: Offset, records: readonly StoredRecord[]): void {
    const taken = records.filter(({ offset }) => offset >= done)
    if (taken.length < records.length)
      flow.foldedAgain.inc({ stage }, records.length - taken.length)
    for (const [type, count] of tally(
      taken,
      ({ value }) => (value && typeIn(value)) ?? 'unreadable',
    ))
      flow.read.inc({ stage, type }, count)
    flow.readBytes.inc({ stage }, bytesOf(taken))
  }

  function wrote(
    stage: StageName,
    messages: readonly Message[],
    records: readonly RecordToAppend[],
  ): void {
    for (const [type, count] of tally(messages, (message) => message.type))
      flow.written.inc({ stage, type }, count)
    flow.writtenBytes.inc({ stage }, bytesOf(records))
    for (const message of messages) {
      if (message.type === 'dead-letter')
        flow.deadLetters.inc({
          stage,
          code: errorCodes.find((code) => code === message.code) ?? 'other',
        })
      else decided(message)
    }
  }

  /** Each decision counts where it is final, so that processes can be summed. */
  function decided(message: Message): void {
    switch (message.type) {
      case 'turn-finished':
        decisions.turns.inc({
          outcome: message.outcome,
          class: message.class ?? 'none',
          cap: message.cap ?? 'none',
        })
        return
      case 'round-checked':
        for (const { code } of message.rejections) decisions.verdicts.inc({ verdict: code })
        decisions.verdicts.inc(
          { verdict: 'accepted' },
          Math.max(0, message.response.calls.length - message.rejections.length),
        )
        return
      case 'round-outcome':
        for (const { status } of message.results) decisions.results.inc({ status })
        return
      case 'intervention-raised':
        if (message.shadow)
          decisions.shadowed.inc({
            rule: message.intervention.rule,
            rung: message.intervention.rung,
          })
        else decisions.interventions.inc({ rung: message.intervention.rung })
        return
      case 'approval-decided':
        decisions.approvals.inc({ outcome: message.outcome })
        return
      case 'attempt-finished':
        decisions.attempts.inc({ outcome: 'answered' })
        return
      case 'attempt-failed':
        decisions.attempts.inc({ outcome: message.class })
        return
      case 'outcome':
        if (message.result !== null)
          decisions.toolSeconds.observe(
            { status: message.result.status },
            message.result.durationMs / 1000,
          )
    }
  }
}

function flowCounters(registry: Registry) {
  const registers = [registry]
  return {
    read: new Counter({
      name: 'weir_records_read_total',
      help: 'Records that a stage took from its inbox, by what their frame says they are.',
      labelNames: ['stage', 'type'] as const,
      registers,
    }),
    foldedAgain: new Counter({
      name: 'weir_records_folded_again_total',
      help: 'Records that were done already and were read once more to restore the state of open units.',
      labelNames: ['stage'] as const,
      registers,
    }),
    written: new Counter({
      name: 'weir_records_written_total',
      help: 'Records that a stage wrote: its reducer, its performer, its ticks.',
      labelNames: ['stage', 'type'] as const,
      registers,
    }),
    readBytes: new Counter({
      name: 'weir_read_bytes_total',
      help: 'Bytes of the values of the records that a stage took.',
      labelNames: ['stage'] as const,
      registers,
    }),
    writtenBytes: new Counter({
      name: 'weir_written_bytes_total',
      help: 'Bytes of the values of the records that a stage wrote.',
      labelNames: ['stage'] as const,
      registers,
    }),
    deadLetters: new Counter({
      name: 'weir_dead_letters_total',
      help: 'Records that a stage could not take, by the code of the error.',
      labelNames: ['stage', 'code'] as const,
      registers,
    }),
  }
}

function decisionCounters(registry: Registry) {
  const registers = [registry]
  return {
    turns: new Counter({
      name: 'weir_turns_total',
      help: 'Turns that ended (conversation): how, why when it was no answer, and the cap that was reached.',
      labelNames: ['outcome', 'class', 'cap'] as const,
      registers,
    }),
    verdicts: new Counter({
      name: 'weir_verdicts_total',
      help: 'Calls that were judged (validator): accepted, or what was wrong.',
      labelNames: ['verdict'] as const,
      registers,
    }),
    interventions: new Counter({
      name: 'weir_interventions_total',
      help: 'Interventions for a lack of progress (loop-detector), by the rung of the ladder.',
      labelNames: ['rung'] as const,
      registers,
    }),
    shadowed: new Counter({
      name: 'weir_interventions_shadowed_total',
      help: 'What rules in shadow would have done (loop-detector), by rule and by the rung of its ladder.',
      labelNames: ['rule', 'rung'] as const,
      registers,
    }),
    approvals: new Counter({
      name: 'weir_approvals_total',
      help: 'Calls that waited for a person (approval), by what became of them.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    results: new Counter({
      name: 'weir_results_total',
      help: 'Results of calls (loop-detector), one for each call.',
      labelNames: ['status'] as const,
      registers,
    }),
    attempts: new Counter({
      name: 'weir_attempts_total',
      help: 'Attempts to get an answer from a model that ended (llm-gateway): answered, or the class of the failure.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    toolSeconds: new Histogram({
      name: 'weir_tool_duration_seconds',
      help: 'How long tools ran (executor), by how they ended.',
      labelNames: ['status'] as const,
      buckets: durationBuckets,
      registers,
    }),
  }
}

/** What is looked up when somebody asks. */
function addGauges(
  registry: Registry,
  { stages, guards = [], partitions, clock }: MetricsOptions,
): void {
  const registers = [registry]
  const ofStage = (stage: ReaderName) =>
    [...partitions.all].filter((partition) => partition.stage === stage)
  const byStage = (
    name: string,
    help: string,
    readers: readonly ReaderName[],
    measure: (stage: ReaderName) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['stage'] as const,
      registers,
      collect() {
        for (const stage of readers) this.set({ stage }, measure(stage))
      },
    })

  const assigned = 'Partitions of its inbox that the stage, or the guard, reads in this process.'
  byStage(
    'weir_partitions_assigned',
    assigned,
    [...stages, ...guards.map(readerOfGuard)],
    (stage) => ofStage(stage).length,
  )
  byStage(
    'weir_open_units',
    'Units (conversations, turns, rounds) that the stage keeps open in this process.',
    stages,
    (stage) => ofStage(stage).reduce((sum, { units }) => sum + units.size, 0),
  )
  byStage(
    'weir_oldest_unit_age_seconds',
    'Since the first record of the open unit that began first; 0: none is open.',
    stages,
    (stage) => {
      const began = ofStage(stage).flatMap(({ units }) => units.values().next().value?.since ?? [])
      return began.length === 0 ? 0 : Math.max(0, clock.now() - Math.min(...began)) / 1000
    },
  )
}

function lagGauges(registry: Registry) {
  const labelNames = ['stage', 'partition'] as const
  const registers = [registry]
  return {
    records: new Gauge({
      name: 'weir_lag_records',
      help: 'Records in the inbox that are not read yet. Absent: the bus did not say.',
      labelNames,
      registers,
    }),
    seconds: new Gauge({
      name: 'weir_lag_seconds',
      help: 'How long the oldest record that is not read yet has waited, at most; 0: none waits. Absent: the bus did not say.',
      labelNames,
      registers,
    }),
  }
}

function tally<T>(all: readonly T[], nameOf: (one: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1)
  return counts
}

function bytesOf(records: readonly RecordToAppend[]): number {
  return records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
}

function messagesOf(outputs: readonly Output[]): Message[] {
  return outputs.map(({ message }) => message)
}
