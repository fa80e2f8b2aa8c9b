// The metrics of a process that runs stages, for Prometheus: records read and written, decisions,
// lag.
// No label grows with use: no id, no name from an agent file. Labels are stages, guards
// of this process, partitions, message types and symbols of schemas.
// A record counts when it is acknowledged. Delivery is at least once, so after a crash a
// few records may count twice.
// Each process has its own registry; the library's global registry stays empty.

import { type Counter, collectDefaultMetrics, Registry } from 'prom-client'
import { typeIn } from '../../../shared/codec/codec.ts'
import type { RecordToAppend, StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message, Usage } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import type { StageName } from '../../../shared/contract/topology.ts'
import { unjudgedKinds } from '../../../shared/contract/unjudged-kinds.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { errorCodes } from '../../../shared/lib/errors.ts'
import type { CountedSlots } from '../../../shared/lib/slots.ts'
import type { GuardInstruments } from '../../../shared/runtime/guards/guard-instruments.ts'
import type { Instruments, MeasuredPartition } from '../../../shared/runtime/instruments.ts'
import { addSettled, isOfMoney, noMoney } from '../../../shared/view/totals.ts'
import type { Metric } from '../../traces/otlp-request.ts'
import type { Health } from '../health.ts'
import type { LogClock } from '../log-clock.ts'
import { type ReaderName, type ReadPartitions, readerOfGuard, readOn } from '../read-partitions.ts'
import { createGuardMetrics } from './guard-metrics.ts'
import { createInstruments, type InstrumentTable } from './instrument-table.ts'
import { knownSeries } from './known-series.ts'
import type { Lag } from './lag.ts'
import { otlpMetrics } from './otlp-metrics.ts'

export type MetricsOptions = {
  stages: readonly StageName[]
  /** Names of the guards that run in this process; default: none. */
  guards?: readonly string[]
  partitions: ReadPartitions
  clock: Pick<Clock, 'now'>
  /** As in LogClock. */
  skewMs?: LogClock['skewMs']
  /** As in Health. */
  damaged?: () => Health['damaged']
  /** Skips partitions with an unknown lag. */
  lags: () => Promise<Lag[]>
  /** Default: the log is on brokers. */
  space?: () => { bytes: number; bytesMax: number } | undefined
  /** Adds the process: CPU, memory, event loop, garbage collection. */
  ofProcess: boolean
}

export type Metrics = {
  readonly instruments: Instruments
  readonly guardInstruments: GuardInstruments
  /** In Prometheus' text format, of the version in `contentType`. */
  text(): Promise<string>
  /** The same metrics for OTLP. */
  all(): Promise<Metric[]>
  readonly contentType: string
}

/** Seconds; a tool may declare up to an hour. */
const durationBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600]

/** The library's default would wake an idle process a hundred times a second. */
const eventLoopPrecisionMs = 100

export const metricTable = {
  counters: {
    read: [
      'weir_records_read_total',
      'Records that a stage read from its inbox, by the type in their frame.',
      ['stage', 'type'],
    ],
    foldedAgain: [
      'weir_records_folded_again_total',
      'Records that were read again to restore the state of open units.',
      ['stage'],
    ],
    written: [
      'weir_records_written_total',
      'Records that a stage wrote, from its reducer, its performer and its ticks.',
      ['stage', 'type'],
    ],
    readBytes: [
      'weir_read_bytes_total',
      'Bytes of the values of the records that a stage read.',
      ['stage'],
    ],
    writtenBytes: [
      'weir_written_bytes_total',
      'Bytes of the values of the records that a stage wrote.',
      ['stage'],
    ],
    repeats: [
      'weir_repeats_total',
      'Derived records that a stage dropped because it had read them before (at-least-once delivery).',
      ['stage'],
    ],
    deadLetters: [
      'weir_dead_letters_total',
      'Records that a stage could not apply, by error code.',
      ['stage', 'code'],
    ],
    turns: [
      'weir_turns_total',
      'Turns that ended (conversation), by outcome, failure class and reached cap.',
      ['outcome', 'class', 'cap'],
    ],
    verdicts: [
      'weir_verdicts_total',
      'Calls that were judged (validator): accepted, or the code of the denial.',
      ['verdict'],
    ],
    interventions: [
      'weir_interventions_total',
      'Interventions against a lack of progress (loop-detector), by the action of the ladder.',
      ['action'],
    ],
    shadowed: [
      'weir_interventions_shadowed_total',
      'Interventions that rules in shadow would have raised (loop-detector), by rule and action.',
      ['rule', 'action'],
    ],
    unjudged: [
      'weir_guest_requests_unjudged_total',
      "Model requests that passed a guest's proxy unjudged (guest), by kind; other: by a path of no known API.",
      ['kind'],
    ],
    approvals: [
      'weir_approvals_total',
      'Calls that waited for a person (approval), by outcome.',
      ['outcome'],
    ],
    results: [
      'weir_results_total',
      'Results of calls (loop-detector), one for each call.',
      ['status'],
    ],
    attempts: [
      'weir_attempts_total',
      'Finished attempts to get an answer from a model (llm-gateway): answered, or the failure class.',
      ['outcome'],
    ],
    tokens: [
      'weir_tokens_total',
      'Tokens of answered attempts (llm-gateway), as the provider counted them, by kind.',
      ['type'],
    ],
    costUsd: [
      'weir_cost_usd_total',
      'Money of settled model requests under a budget (llm-gateway), in US dollars.',
      [],
    ],
    unpriced: [
      'weir_unpriced_requests_total',
      'Settled model requests under a budget whose price is unknown (llm-gateway).',
      [],
    ],
  },
  histograms: {
    toolSeconds: [
      'weir_tool_duration_seconds',
      'Run time of tools (executor), by result status.',
      ['status'],
      durationBuckets,
    ],
  },
  gauges: {
    partitionsAssigned: [
      'weir_partitions_assigned',
      'Partitions of its inbox that the stage, or the guard, reads in this process.',
      ['stage'],
    ],
    openUnits: [
      'weir_open_units',
      'Units (conversations, turns, rounds) that the stage keeps open in this process.',
      ['stage'],
    ],
    oldestUnitAge: [
      'weir_oldest_unit_age_seconds',
      'Since the first record of the open unit that began first; 0: none is open.',
      ['stage'],
    ],
    lagRecords: [
      'weir_lag_records',
      'Unread records in the inbox. Absent: the bus did not answer.',
      ['stage', 'partition'],
    ],
    lagSeconds: [
      'weir_lag_seconds',
      'Longest possible wait of the oldest unread record; 0: none waits. Absent: the bus did not answer.',
      ['stage', 'partition'],
    ],
    slots: [
      'weir_slots',
      'Model streams (llm-gateway) or tools (executor) that this process runs at once, at most.',
      ['stage'],
    ],
    slotsBusy: [
      'weir_slots_busy',
      'Model streams (llm-gateway) or tools (executor) that run now.',
      ['stage'],
    ],
    logBytes: [
      'weir_log_bytes',
      'Bytes that the log in the data folder uses. Absent: the log is on brokers.',
      [],
    ],
    logBytesMax: [
      'weir_log_bytes_max',
      'The setting dataFolderBytesMax: at so many bytes no new turn begins. 0: no limit.',
      [],
    ],
    damaged: [
      'weir_partitions_damaged',
      'Assigned partitions that are not read, because their commit or log is damaged (weir reset).',
      ['stage'],
    ],
    clockSkew: [
      'weir_clock_skew_seconds',
      "The brokers' clock minus this machine's. Absent: not measured yet.",
      [],
    ],
  },
} as const satisfies InstrumentTable

export function createMetrics(options: MetricsOptions): Metrics {
  const { stages, guards = [], partitions, clock } = options
  const registry = new Registry()
  const instruments = createInstruments(registry, metricTable)
  if (options.ofProcess)
    collectDefaultMetrics({
      register: registry,
      eventLoopMonitoringPrecision: eventLoopPrecisionMs,
    })
  const guardInstruments = createGuardMetrics({ registry, guards, partitions, clock })
  const slotsOf = new Map<StageName, Pick<CountedSlots, 'count' | 'busy'>>()
  beginAtZero(instruments, stages)
  const money = noMoney() // in whole billionths: a sum of fractions is not exact

  /** Sets the metrics that are the state of the process at this moment. */
  async function refresh(): Promise<void> {
    const lags = await options.lags()
    setPartitionGauges(instruments, options)
    const { lagRecords, lagSeconds, clockSkew } = instruments
    for (const [stage, count] of options.damaged?.() ?? [])
      instruments.damaged.set({ stage }, count)
    for (const [stage, { count, busy }] of slotsOf) {
      instruments.slots.set({ stage }, count)
      instruments.slotsBusy.set({ stage }, busy)
    }
    const skewMs = options.skewMs?.()
    if (skewMs === undefined) clockSkew.remove()
    else clockSkew.set(skewMs / 1000)
    for (const gauge of [lagRecords, lagSeconds]) gauge.reset() // drops revoked partitions
    for (const { stage, partition, records, seconds } of lags) {
      lagRecords.set({ stage, partition }, records)
      lagSeconds.set({ stage, partition }, seconds)
    }
    for (const counter of [instruments.costUsd, instruments.unpriced]) counter.reset()
    instruments.costUsd.inc(money.usd / 1e9)
    instruments.unpriced.inc(money.unpriced)
    const space = options.space?.()
    for (const gauge of [instruments.logBytes, instruments.logBytesMax]) gauge.reset()
    if (space !== undefined) {
      instruments.logBytes.set(space.bytes)
      instruments.logBytesMax.set(space.bytesMax)
    }
  }

  return {
    contentType: registry.contentType,
    guardInstruments,

    async text() {
      await refresh()
      return registry.metrics()
    },

    async all() {
      await refresh()
      return otlpMetrics(await registry.getMetricsAsJSON())
    },

    instruments: {
      assigned(partition) {
        const { stage } = partition
        const read = partitions.add(partition)
        return {
          acknowledged(step) {
            countRead(instruments, partition, step.read)
            instruments.repeats.inc({ stage }, step.repeats ?? 0)
            countWritten(stage, messagesOf(step.outputs), step.written)
            readOn(read, step.read)
          },
          closed: () => partitions.remove(read),
        }
      },
      observed(stage, { messages, written }) {
        countWritten(stage, messages, written)
      },
      slots: (stage, slots) => slotsOf.set(stage, slots),
    },
  }

  function countWritten(
    stage: StageName,
    messages: readonly Message[],
    records: readonly RecordToAppend[],
  ): void {
    for (const [type, count] of tally(messages, (message) => message.type))
      instruments.written.inc({ stage, type }, count)
    instruments.writtenBytes.inc({ stage }, bytesOf(records))
    for (const message of messages) {
      countDecision(instruments, stage, message)
      if (isOfMoney(message)) addSettled(money, message)
    }
  }
}

type Counted = ReturnType<typeof createInstruments<typeof metricTable>>

function beginAtZero(instruments: Counted, stages: readonly StageName[]): void {
  const { readBytes, writtenBytes, foldedAgain, repeats, toolSeconds } = instruments
  for (const stage of stages)
    for (const counter of [readBytes, writtenBytes, foldedAgain, repeats]) counter.inc({ stage }, 0)
  const { toolSeconds: ofTools, ...counted } = knownSeries(stages)
  for (const labels of ofTools) toolSeconds.zero(labels)
  for (const [key, all] of Object.entries(counted))
    for (const labels of all) (instruments[key as keyof Counted] as Counter).inc(labels, 0)
}

function countRead(
  instruments: Counted,
  { stage, done }: MeasuredPartition,
  records: readonly StoredRecord[],
): void {
  const taken = records.filter(({ offset }) => offset >= done)
  if (taken.length < records.length)
    instruments.foldedAgain.inc({ stage }, records.length - taken.length)
  for (const [type, count] of tally(taken, ({ value }) => (value && typeIn(value)) ?? 'unreadable'))
    instruments.read.inc({ stage, type }, count)
  instruments.readBytes.inc({ stage }, bytesOf(taken))
}

/** Each decision counts in the stage that makes it final, so you can sum over processes. */
function countDecision(instruments: Counted, stage: StageName, message: Message): void {
  switch (message.type) {
    case 'dead-letter':
      instruments.deadLetters.inc({
        stage,
        code: errorCodes.find((code) => code === message.code) ?? 'other',
      })
      return
    case 'turn-finished':
      instruments.turns.inc({
        outcome: message.outcome,
        class: message.class ?? 'none',
        cap: message.cap ?? 'none',
      })
      return
    case 'round-checked':
      for (const { code } of message.denials) instruments.verdicts.inc({ verdict: code })
      instruments.verdicts.inc(
        { verdict: 'accepted' },
        Math.max(0, message.response.calls.length - message.denials.length),
      )
      return
    case 'round-outcome':
      for (const { status } of message.results) instruments.results.inc({ status })
      return
    case 'intervention-raised':
      if (message.shadow)
        instruments.shadowed.inc({
          rule: message.intervention.rule,
          action: message.intervention.action,
        })
      else instruments.interventions.inc({ action: message.intervention.action })
      return
    case 'approval-decided':
      instruments.approvals.inc({ outcome: message.outcome })
      return
    case 'requests-unjudged':
      for (const { kind, count } of message.requests)
        instruments.unjudged.inc(
          { kind: unjudgedKinds.find((name) => name === kind) ?? 'other' },
          count,
        )
      return
    case 'attempt-finished':
      instruments.attempts.inc({ outcome: 'answered' })
      countTokens(instruments, message.usage)
      return
    case 'attempt-failed':
      instruments.attempts.inc({ outcome: message.class })
      return
    case 'outcome':
      if (message.result !== null)
        instruments.toolSeconds.observe(
          { status: message.result.status },
          message.result.durationMs / 1000,
        )
  }
}

function countTokens(
  { tokens }: Counted,
  { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage,
): void {
  const kinds = {
    input: inputTokens,
    output: outputTokens,
    cache_read: cacheReadTokens,
    cache_write: cacheWriteTokens,
  }
  for (const [type, count] of Object.entries(kinds)) tokens.inc({ type }, Math.max(0, count))
}

/** Sets the gauges that follow the partitions of this process. */
function setPartitionGauges(
  { partitionsAssigned, openUnits, oldestUnitAge }: Counted,
  { stages, guards = [], partitions, clock }: MetricsOptions,
): void {
  const ofStage = (stage: ReaderName) =>
    [...partitions.all].filter((partition) => partition.stage === stage)
  for (const stage of [...stages, ...guards.map(readerOfGuard)])
    partitionsAssigned.set({ stage }, ofStage(stage).length)
  for (const stage of stages) {
    const units = ofStage(stage).map((partition) => partition.units)
    const began = units.flatMap((open) => open.values().next().value?.since ?? [])
    openUnits.set(
      { stage },
      units.reduce((sum, { size }) => sum + size, 0),
    )
    oldestUnitAge.set(
      { stage },
      began.length === 0 ? 0 : Math.max(0, clock.now() - Math.min(...began)) / 1000,
    )
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
