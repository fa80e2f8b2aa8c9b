// The metrics of a process that runs stages, for Prometheus: records read and written, decisions,
// lag.
// METRICS-1. No label grows with use: no id, no name from an agent file. Labels are stages, guards
//     of this process, partitions, message types and symbols of schemas.
// METRICS-2. A record counts when it is acknowledged. Delivery is at least once, so after a crash a
//     few records may count twice.
// METRICS-3. Each process has its own registry; the library's global registry stays empty.

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
  /** Skips partitions with an unknown lag. */
  lags: () => Promise<Lag[]>
  /** Adds the process: CPU, memory, event loop, garbage collection. */
  ofProcess: boolean
}

export type Metrics = {
  readonly instruments: Instruments
  readonly guardInstruments: GuardInstruments
  /** In Prometheus' text format, of the version in `contentType`. */
  text(): Promise<string>
  readonly contentType: string
}

/** Seconds; a tool may declare up to an hour. */
const durationBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600]

/** The library's default would wake an idle process a hundred times a second. */
const eventLoopPrecisionMs = 100

export function createMetrics(options: MetricsOptions): Metrics {
  const { stages, guards = [], partitions, clock } = options
  const registry = new Registry()
  const flow = flowCounters(registry)
  const decisions = decisionCounters(registry)
  addGauges(registry, options)
  const lag = lagGauges(registry)
  if (options.ofProcess)
    collectDefaultMetrics({
      register: registry,
      eventLoopMonitoringPrecision: eventLoopPrecisionMs,
    })
  const guardInstruments = createGuardMetrics({ registry, guards, partitions, clock })
  for (const stage of stages)
    for (const counter of [flow.readBytes, flow.writtenBytes, flow.foldedAgain])
      counter.inc({ stage }, 0)

  return {
    contentType: registry.contentType,
    guardInstruments,

    async text() {
      const lags = await options.lags()
      for (const gauge of [lag.records, lag.seconds]) gauge.reset() // drops lost partitions
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
            countRead(stage, done, step.read)
            countWritten(stage, messagesOf(step.outputs), step.written)
            readOn(read, step.read)
          },
          closed: () => partitions.remove(read),
        }
      },
      observed(stage, { messages, written }) {
        countWritten(stage, messages, written)
      },
    },
  }

  function countRead(stage: StageName, done: Offset, records: readonly StoredRecord[]): void {
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

  function countWritten(
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
      else countDecision(message)
    }
  }

  /** Each decision counts in the stage that makes it final, so you can sum over processes. */
  function countDecision(message: Message): void {
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
      help: 'Records that a stage read from its inbox, by the type in their frame.',
      labelNames: ['stage', 'type'] as const,
      registers,
    }),
    foldedAgain: new Counter({
      name: 'weir_records_folded_again_total',
      help: 'Records that were read again to restore the state of open units.',
      labelNames: ['stage'] as const,
      registers,
    }),
    written: new Counter({
      name: 'weir_records_written_total',
      help: 'Records that a stage wrote, from its reducer, its performer and its ticks.',
      labelNames: ['stage', 'type'] as const,
      registers,
    }),
    readBytes: new Counter({
      name: 'weir_read_bytes_total',
      help: 'Bytes of the values of the records that a stage read.',
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
      help: 'Records that a stage could not apply, by error code.',
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
      help: 'Turns that ended (conversation), by outcome, failure class and reached cap.',
      labelNames: ['outcome', 'class', 'cap'] as const,
      registers,
    }),
    verdicts: new Counter({
      name: 'weir_verdicts_total',
      help: 'Calls that were judged (validator): accepted, or the code of the rejection.',
      labelNames: ['verdict'] as const,
      registers,
    }),
    interventions: new Counter({
      name: 'weir_interventions_total',
      help: 'Interventions against a lack of progress (loop-detector), by the rung of the ladder.',
      labelNames: ['rung'] as const,
      registers,
    }),
    shadowed: new Counter({
      name: 'weir_interventions_shadowed_total',
      help: 'Interventions that rules in shadow would have raised (loop-detector), by rule and rung.',
      labelNames: ['rule', 'rung'] as const,
      registers,
    }),
    approvals: new Counter({
      name: 'weir_approvals_total',
      help: 'Calls that waited for a person (approval), by outcome.',
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
      help: 'Finished attempts to get an answer from a model (llm-gateway): answered, or the failure class.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    toolSeconds: new Histogram({
      name: 'weir_tool_duration_seconds',
      help: 'Run time of tools (executor), by result status.',
      labelNames: ['status'] as const,
      buckets: durationBuckets,
      registers,
    }),
  }
}

/** Gauges that are computed on each scrape. */
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

  const assigned = 'Partitions of its inbox that the stage or guard reads in this process.'
  byStage(
    'weir_partitions_assigned',
    assigned,
    [...stages, ...guards.map(readerOfGuard)],
    (stage) => ofStage(stage).length,
  )
  byStage(
    'weir_open_units',
    'Open units (conversations, turns, rounds) of the stage in this process.',
    stages,
    (stage) => ofStage(stage).reduce((sum, { units }) => sum + units.size, 0),
  )
  byStage(
    'weir_oldest_unit_age_seconds',
    'Age of the oldest open unit, from its first record; 0: none is open.',
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
      help: 'Unread records in the inbox. Absent: the bus did not answer.',
      labelNames,
      registers,
    }),
    seconds: new Gauge({
      name: 'weir_lag_seconds',
      help: 'Longest possible wait of the oldest unread record; 0: none waits. Absent: the bus did not answer.',
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
