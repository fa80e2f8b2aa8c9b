// The speed of the accumulator for a long response: 10,000 deltas of one call's arguments, and the
// same as 100 records of 100 deltas. The baseline is the least work of any accumulator: one join of
// the same pieces to a string.
//
// Not measured: reading and decoding the records, writing the proposal, and memory. Unlike a log,
// each lap uses the same record objects.

import { accumulator } from '../../services/accumulator/reducer.ts'
import { defaultPolicy } from '../../shared/agents/policy/policy.ts'
import type { ModelFinished, ModelOpened, Part, PartEvent } from '../../shared/contract/messages.ts'
import type { Row } from './row.ts'

const deltas = 10_000
const laps = 30

const place = { conversation: 'c', turn: 1, round: 1 }
const opened: ModelOpened = { type: 'model-opened', ...place, offered: ['write'], expiresAt: 1 }

/** All rows of the accumulator. */
export function benchAccumulator(): Row[] {
  const pieces = [
    '{"text":"',
    ...Array.from({ length: deltas - 2 }, (_, i) => `word ${i % 10} `),
    '"}',
  ]
  const [single, batched] = [recordsOf(pieces, 1), recordsOf(pieces, 100)]

  const joinNs = nsPerLap(() => pieces.join('').length)
  const singleNs = nsPerLap(() => folded(single))
  const batchedNs = nsPerLap(() => folded(batched))
  const baseline = 'a join of the same pieces'
  return [
    {
      name: `${deltas} deltas, a record each: records/s`,
      value: (single.length * 1e9) / singleNs,
      unit: 'records/s',
    },
    {
      name: `${deltas} deltas, a record each: a response`,
      value: singleNs / 1e3,
      unit: 'µs',
      baseline,
      ratio: singleNs / joinNs,
    },
    {
      name: `${deltas} deltas, 100 in a record: a response`,
      value: batchedNs / 1e3,
      unit: 'µs',
      baseline,
      ratio: batchedNs / joinNs,
    },
    { name: `${deltas} pieces: a join`, value: joinNs / 1e3, unit: 'µs' },
  ]
}

type Recorded = ModelOpened | Part | ModelFinished

function recordsOf(pieces: string[], inOne: number): Recorded[] {
  const events: PartEvent[] = [
    { kind: 'call_start', index: 0, id: 'id', name: 'write', text: '' },
    ...pieces.map(
      (text): PartEvent => ({ kind: 'call_arguments', index: 0, id: null, name: null, text }),
    ),
    { kind: 'call_end', index: 0, id: null, name: null, text: '' },
  ]
  const parts = Array.from({ length: Math.ceil(events.length / inOne) }, (_, i): Part => {
    return {
      type: 'part',
      ...place,
      attempt: 'a',
      i,
      events: events.slice(i * inOne, (i + 1) * inOne),
    }
  })
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const answer = {
    attempt: 'a',
    parts: parts.length,
    finish: 'tool_use',
    stop: 'calls' as const,
    usage,
    failure: null,
  }
  const stamped = {
    declarations: [],
    agent: 'a',
    policy: defaultPolicy,
    callsLeft: 1,
    expiresAt: 1,
    callsAsText: false,
    textCalls: null,
    echoOf: null,
    rest: [],
  }
  return [opened, ...parts, { type: 'model-finished', ...place, ...answer, ...stamped }]
}

/**
 * Folds as the runtime does, with a look-up of the unit for each record. Returns the length of the
 * arguments, which proves that no part is missing.
 */
function folded(records: Recorded[]): number {
  const units = new Map<string, NonNullable<Parameters<typeof accumulator.react>[0]>>()
  let length = 0
  for (const [offset, message] of records.entries()) {
    const unit = accumulator.unit(message)
    const { state, records: written } = accumulator.react(units.get(unit), {
      message,
      offset,
      previous: undefined,
      time: 0,
    })
    if (state === undefined) units.delete(unit)
    else units.set(unit, state)
    for (const output of written ?? [])
      if (output.message.type === 'round-proposed')
        length = output.message.response.calls[0]?.raw.length ?? 0
  }
  return length
}

/** The median of some laps, after some to warm up. */
function nsPerLap(lap: () => number): number {
  for (let i = 0; i < laps / 3; i += 1) lap()
  const times = Array.from({ length: laps }, () => {
    const begun = process.hrtime.bigint()
    if (lap() === 0) throw new Error('the bench folded nothing')
    return Number(process.hrtime.bigint() - begun)
  })
  return times.sort((a, b) => a - b)[laps >> 1] ?? 0
}
