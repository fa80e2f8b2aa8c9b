import { describe, expect, it } from '@jest/globals'
import { register } from 'prom-client'
import type { Lag } from '../../../../apps/service/metrics/lag.ts'
import { createMetrics, metricTable } from '../../../../apps/service/metrics/metrics.ts'
import { createReadPartitions } from '../../../../apps/service/read-partitions.ts'
import { defaultPolicy } from '../../../../shared/agents/policy/policy.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { RecordToAppend, StoredRecord } from '../../../../shared/contract/bus.ts'
import type {
  ApprovalDecided,
  CallResult,
  Message,
  Response,
  TurnFinished,
} from '../../../../shared/contract/messages.ts'
import { keyOf, type StageName, stageNames } from '../../../../shared/contract/topology.ts'
import { createSlots } from '../../../../shared/lib/slots.ts'
import { callWith, modelRequest, responseWith, resultWith } from '../../../support/messages.ts'

const now = 1_000_000

function world() {
  const partitions = createReadPartitions({ now: () => now })
  let lags: Lag[] = []
  const metrics = createMetrics({
    stages: stageNames,
    partitions,
    clock: { now: () => now },
    lags: async () => lags,
    ofProcess: false,
  })
  const series = async () => seriesOf(await metrics.text())
  return {
    metrics,
    series,
    /** The metrics with this prefix that are not 0. */
    seen: async (name: string) =>
      Object.fromEntries(
        Object.entries(await series()).filter(
          ([key, value]) => key.startsWith(name) && value !== 0,
        ),
      ),
    assign: (
      stage: StageName,
      partition = 0,
      { done = 0, since = [] as number[], topic = 'inbox' } = {},
    ) => {
      const units = new Map(since.map((time, i) => [`${i}`, { since: time }]))
      return metrics.instruments.assigned({
        stage,
        topic,
        partition,
        from: 0,
        done,
        end: 0,
        units,
        hasCaughtUp: () => true,
      })
    },
    lagsAre: (given: Lag[]) => {
      lags = given
    },
  }
}

/** `name{labels}` to the value. */
function seriesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  )
}

function stored(offset: number, value: Uint8Array | null): StoredRecord {
  return { topic: 'inbox', partition: 0, key: 'c', value, offset, time: now - 500 }
}

/** The records that a reducer wrote for one input, next to their acknowledged bytes. */
function written(...messages: Message[]) {
  const records: RecordToAppend[] = messages.map((message) => ({
    topic: 't',
    partition: 0,
    key: keyOf(message),
    value: encode(message),
  }))
  return {
    outputs: messages.map((message) => ({ to: 'next' as const, message })),
    written: records,
  }
}

const place = { conversation: 'a-conversation-id', turn: 3, round: 1 }
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
const call = (ordinal: number) => callWith({ ordinal, id: 'call-id', name: 'a_tool' })
const responseOf = (calls: number): Response =>
  responseWith({
    attempt: 'attempt-id',
    usage,
    calls: Array.from({ length: calls }, (_, ordinal) => call(ordinal)),
  })
const result = (ordinal: number, status: CallResult['status'], durationMs = 0): CallResult =>
  resultWith({ ordinal, status, durationMs, text: 'a secret', reason: 'a reason' })
const turnFinished: TurnFinished = {
  type: 'turn-finished',
  conversation: 'a-conversation-id',
  turn: 3,
  messageId: 'a-message-id',
  outcome: 'answered',
  reply: 'the reply',
  reason: 'the model answered',
  class: null,
  cap: null,
  totals: { rounds: 1, calls: 0, inputTokens: 1, outputTokens: 1, wallMs: 10 },
}

describe('the metrics of a process that has just started', () => {
  it('exist at 0 with all known labels, so a rate and an alert see the first event', async () => {
    const { metrics } = world()
    const all = seriesOf(await metrics.text())
    const counters = Object.values(metricTable.counters).map(([name]) => name)
    const without = counters.filter(
      (name) => !Object.keys(all).some((key) => key === name || key.startsWith(`${name}{`)),
    )
    expect(without).toEqual([])
    expect(
      Object.entries(all).filter(([key, value]) => key.includes('_total') && value !== 0),
    ).toEqual([])
    expect(all).toMatchObject({
      'weir_turns_total{outcome="failed",class="stopped",cap="none"}': 0,
      'weir_turns_total{outcome="capped",class="budget",cap="rounds"}': 0,
      'weir_verdicts_total{verdict="unknown_tool"}': 0,
      'weir_interventions_shadowed_total{rule="cycle",action="end"}': 0,
      'weir_dead_letters_total{stage="intake",code="codec.bad-frame"}': 0,
      'weir_records_written_total{stage="conversation",type="turn-finished"}': 0,
      'weir_records_written_total{stage="executor",type="claim"}': 0,
      'weir_tool_duration_seconds_count{status="timed_out"}': 0,
    })
  })

  it('count a record under the series that existed before', async () => {
    const { metrics, assign } = world()
    const before = Object.keys(seriesOf(await metrics.text())).filter((key) =>
      key.includes('_total'),
    )
    assign('conversation').acknowledged({ read: [], ...written(turnFinished) })
    const after = Object.keys(seriesOf(await metrics.text())).filter((key) =>
      key.includes('_total'),
    )
    expect(after).toEqual(before)
  })

  it('are the same for OTLP, with the counts between two bounds of a histogram', async () => {
    const { metrics } = world()
    metrics.instruments.observed('executor', {
      messages: [
        {
          type: 'outcome',
          ...place,
          ordinal: 0,
          try: 1,
          owner: 'o',
          result: result(0, 'ok', 70),
          goesOn: false,
        },
      ],
      written: [],
    })
    const all = new Map((await metrics.all()).map((metric) => [metric.name, metric]))
    const seconds = all.get('weir_tool_duration_seconds')
    const ok = seconds?.points.find(({ attributes }) => attributes.status === 'ok')
    expect(seconds).toMatchObject({ kind: 'histogram', unit: 's' })
    expect(ok).toMatchObject({ count: 1, sum: 0.07 })
    expect(ok).toMatchObject({ buckets: [0, 0, 1, ...new Array(12).fill(0)] })
    expect(all.get('weir_turns_total')).toMatchObject({ kind: 'sum' })
    expect(all.get('weir_open_units')).toMatchObject({ kind: 'gauge' })
  })
})

describe('the metrics of reads and writes', () => {
  it('count the records that were dropped as repeats', async () => {
    const { assign, seen } = world()
    assign('llm-gateway').acknowledged({ read: [], repeats: 2, ...written() })
    expect(await seen('weir_repeats')).toMatchObject({
      'weir_repeats_total{stage="llm-gateway"}': 2,
    })
  })

  it('count records and their bytes by stage and by the type in their frame', async () => {
    const { assign, seen } = world()
    const request = encode(modelRequest())
    assign('llm-gateway').acknowledged({
      read: [
        stored(0, request),
        stored(1, request),
        stored(2, Buffer.from('no frame')),
        stored(3, null),
      ],
      ...written(),
    })
    expect(await seen('weir_records_read_total')).toEqual({
      'weir_records_read_total{stage="llm-gateway",type="model-request"}': 2,
      'weir_records_read_total{stage="llm-gateway",type="unreadable"}': 2,
    })
    expect(await seen('weir_read_bytes_total')).toEqual({
      'weir_read_bytes_total{stage="llm-gateway"}': 2 * request.length + 8,
    })
  })

  it('count records that are only folded again separately', async () => {
    const { assign, seen } = world()
    const read = [0, 1, 2].map((offset) => stored(offset, encode(modelRequest())))
    assign('llm-gateway', 0, { done: 2 }).acknowledged({ read, ...written() })
    expect(await seen('weir_records_')).toEqual({
      'weir_records_folded_again_total{stage="llm-gateway"}': 2,
      'weir_records_read_total{stage="llm-gateway",type="model-request"}': 1,
    })
  })

  it('count records and bytes of reducers, performers and ticks', async () => {
    const { assign, metrics, seen } = world()
    const derived = written(
      { type: 'turn-ended', conversation: 'c', turn: 0 },
      { type: 'turn-ended', conversation: 'c', turn: 1 },
    )
    assign('conversation').acknowledged({ read: [], ...derived })
    const tick: Message = { type: 'tick', conversation: 'c', unit: 'u' }
    const observed = written(tick)
    metrics.instruments.observed('conversation', { messages: [tick], written: observed.written })
    expect(await seen('weir_records_written_total')).toEqual({
      'weir_records_written_total{stage="conversation",type="turn-ended"}': 2,
      'weir_records_written_total{stage="conversation",type="tick"}': 1,
    })
    const bytes = [...derived.written, ...observed.written].reduce(
      (sum, { value }) => sum + (value?.length ?? 0),
      0,
    )
    expect(await seen('weir_written_bytes_total')).toEqual({
      'weir_written_bytes_total{stage="conversation"}': bytes,
    })
  })

  it('count dead letters by error code, and an unknown code as other', async () => {
    const { assign, seen } = world()
    const letter = (code: string): Message => ({
      type: 'dead-letter',
      topic: 't',
      partition: 0,
      offset: 1,
      time: 1,
      stage: 'validator',
      code,
      reason: 'a reason',
      key: 'a-conversation-id',
      value: Buffer.from(''),
    })
    assign('validator').acknowledged({
      read: [],
      ...written(
        letter('codec.bad-frame'),
        letter('codec.bad-frame'),
        letter('invented by a stranger'),
      ),
    })
    expect(await seen('weir_dead_letters_total')).toEqual({
      'weir_dead_letters_total{stage="validator",code="codec.bad-frame"}': 2,
      'weir_dead_letters_total{stage="validator",code="other"}': 1,
    })
  })
})

describe('the metrics of decisions', () => {
  it('count turns by outcome, class and cap', async () => {
    const { assign, seen } = world()
    const capped: TurnFinished = {
      ...turnFinished,
      outcome: 'capped',
      class: 'budget',
      cap: 'rounds',
    }
    assign('conversation').acknowledged({
      read: [],
      ...written(turnFinished, turnFinished, capped),
    })
    expect(await seen('weir_turns_total')).toEqual({
      'weir_turns_total{outcome="answered",class="none",cap="none"}': 2,
      'weir_turns_total{outcome="capped",class="budget",cap="rounds"}': 1,
    })
  })

  it('count each judged call, including accepted ones', async () => {
    const { assign, seen } = world()
    const denial = {
      ordinal: 1,
      code: 'schema' as const,
      reason: 'r',
      text: 't',
      requiredFields: [],
    }
    const round = {
      ...place,
      failure: null,
      declarations: [],
      agent: 'an-agent',
      policy: defaultPolicy,
      callsLeft: 1,
      expiresAt: 1,
    }
    assign('validator').acknowledged({
      read: [],
      ...written(
        { type: 'round-checked', ...round, response: responseOf(3), denials: [denial] },
        { type: 'round-checked', ...round, response: responseOf(0), denials: [] },
      ),
    })
    expect(await seen('weir_verdicts_total')).toEqual({
      'weir_verdicts_total{verdict="accepted"}': 2,
      'weir_verdicts_total{verdict="schema"}': 1,
    })
  })

  it('count results by status at the end of a round, and interventions by action', async () => {
    const { assign, seen } = world()
    const intervention = {
      action: 'nudge' as const,
      ordinary: false,
      rule: 'identical-failure',
      ruleVersion: 1,
      key: 'k',
      reason: 'r',
      text: 't',
      class: null,
      evidence: [],
    }
    const results = [result(0, 'ok'), result(1, 'denied'), result(2, 'ok')]
    const outcome = {
      ...place,
      response: responseOf(3),
      failure: null,
      intervention,
      policy: defaultPolicy,
    }
    assign('loop-detector').acknowledged({
      read: [],
      ...written(
        { type: 'round-outcome', ...outcome, results },
        { type: 'intervention-raised', ...place, intervention, shadow: false },
        {
          type: 'intervention-raised',
          ...place,
          intervention: { ...intervention, action: 'text_only' },
          shadow: true,
        },
      ),
    })
    expect(await seen('weir_results_total')).toEqual({
      'weir_results_total{status="ok"}': 2,
      'weir_results_total{status="denied"}': 1,
    })
    expect(await seen('weir_interventions_total')).toEqual({
      'weir_interventions_total{action="nudge"}': 1,
    })
    expect(await seen('weir_interventions_shadowed_total')).toEqual({
      'weir_interventions_shadowed_total{rule="identical-failure",action="text_only"}': 1,
    })
  })

  it('count calls that waited for a person by outcome', async () => {
    const { assign, seen } = world()
    const decided = (outcome: ApprovalDecided['outcome']): Message => ({
      type: 'approval-decided',
      ...place,
      ordinal: 0,
      name: 'a_tool',
      id: 'an-approval-id',
      outcome,
      by: 'a-person',
      reason: '',
      waitedMs: 1,
      identity: 'claimed' as const,
    })
    assign('approval').acknowledged({
      read: [],
      ...written(decided('allow'), decided('expired'), decided('allow')),
    })
    expect(await seen('weir_approvals_total')).toEqual({
      'weir_approvals_total{outcome="allow"}': 2,
      'weir_approvals_total{outcome="expired"}': 1,
    })
  })

  it('count unjudged requests by kind, and all other paths as one', async () => {
    const { assign, seen } = world()
    const requests = [
      { kind: 'Gemini', count: 3 },
      { kind: 'POST /a', count: 1 },
      { kind: 'GET /b', count: 2 },
    ]
    const { conversation } = place
    assign('guest').acknowledged({
      read: [],
      ...written({ type: 'requests-unjudged', conversation, at: 0, requests }),
    })
    expect(await seen('weir_guest_requests_unjudged_total')).toEqual({
      'weir_guest_requests_unjudged_total{kind="Gemini"}': 3,
      'weir_guest_requests_unjudged_total{kind="other"}': 3,
    })
  })

  it('count money in whole billionths, so the sum has no fraction of one', async () => {
    const { metrics, seen } = world()
    const settled: Message = {
      type: 'budget-settled',
      priced: true,
      ...place,
      tenant: 'acme',
      attempt: 'a',
      counted: 'usage',
      usage,
      tokens: 1,
      usd: 700_000_000,
      prices: '',
    }
    metrics.instruments.observed('llm-gateway', {
      messages: Array.from({ length: 8 }, () => settled),
      written: [],
    })
    expect(await seen('weir_cost_usd_total')).toEqual({ weir_cost_usd_total: 5.6 })
    expect(await seen('weir_cost_usd_total')).toEqual({ weir_cost_usd_total: 5.6 })
  })

  it('count attempts by outcome, and run times of tools by status', async () => {
    const { metrics, seen } = world()
    const finished: Message = {
      type: 'attempt-finished',
      ...place,
      attempt: 'attempt-id',
      parts: 1,
      finish: '',
      stop: 'end',
      usage,
      declarations: [],
      policy: defaultPolicy,
      callsAsText: false,
      textCalls: 'tell',
      echoOf: null,
      rest: [],
    }
    const failed: Message = {
      type: 'attempt-failed',
      ...place,
      attempt: 'attempt-id',
      reason: 'r',
      class: 'transient',
      retryable: true,
      retryAfterMs: 0,
      historyRefused: false,
      historyShortened: false,
      toolsRefused: false,
      reasoningRefused: 'none',
    }
    metrics.instruments.observed('llm-gateway', {
      messages: [finished, failed, failed],
      written: [],
    })
    const outcome = (given: CallResult | null): Message => ({
      type: 'outcome',
      ...place,
      ordinal: 0,
      try: 1,
      owner: 'an-owner-id',
      result: given,
      goesOn: false,
    })
    const messages = [
      outcome(result(0, 'ok', 1_500)),
      outcome(result(0, 'timed_out', 60_000)),
      outcome(null),
    ]
    metrics.instruments.observed('executor', { messages, written: [] })
    expect(await seen('weir_attempts_total')).toEqual({
      'weir_attempts_total{outcome="answered"}': 1,
      'weir_attempts_total{outcome="transient"}': 2,
    })
    expect(await seen('weir_tokens_total')).toMatchObject({
      'weir_tokens_total{type="input"}': expect.any(Number),
      'weir_tokens_total{type="output"}': expect.any(Number),
    })
    expect(await seen('weir_tool_duration_seconds_sum')).toEqual({
      'weir_tool_duration_seconds_sum{status="ok"}': 1.5,
      'weir_tool_duration_seconds_sum{status="timed_out"}': 60,
    })
    expect(await seen('weir_tool_duration_seconds_bucket{le="2.5",status="ok"}')).toEqual({
      'weir_tool_duration_seconds_bucket{le="2.5",status="ok"}': 1,
    })
  })
})

describe('the gauges', () => {
  it('sum open units and partitions of a stage, and give the age of its oldest unit', async () => {
    const { assign, seen } = world()
    assign('executor', 0, { since: [now - 90_000, now - 1_000] })
    assign('executor', 1, { since: [now - 5_000] })
    expect(await seen('weir_open_units')).toEqual({ 'weir_open_units{stage="executor"}': 3 })
    expect(await seen('weir_oldest_unit_age_seconds')).toEqual({
      'weir_oldest_unit_age_seconds{stage="executor"}': 90,
    })
    expect(await seen('weir_partitions_assigned')).toEqual({
      'weir_partitions_assigned{stage="executor"}': 2,
    })
  })

  it('are 0, not absent, for a stage without a partition', async () => {
    const { series } = world()
    expect(await series()).toMatchObject({
      'weir_open_units{stage="validator"}': 0,
      'weir_oldest_unit_age_seconds{stage="validator"}': 0,
      'weir_partitions_assigned{stage="validator"}': 0,
    })
  })

  it('show the slots of a stage and those in use, and none for a stage without slots', async () => {
    const { metrics, series } = world()
    const slots = createSlots(3)
    metrics.instruments.slots?.('executor', slots)
    let free = () => {}
    for (let i = 0; i < 2; i++)
      slots.wait('a', (given) => {
        free = given
      })
    const found = await series()
    expect(found).toMatchObject({
      'weir_slots{stage="executor"}': 3,
      'weir_slots_busy{stage="executor"}': 2,
    })
    expect(Object.keys(found)).not.toContain('weir_slots{stage="validator"}')
    free()
    expect(await series()).toMatchObject({ 'weir_slots_busy{stage="executor"}': 1 })
  })

  it('drop a lost partition and its lag', async () => {
    const { assign, lagsAre, seen } = world()
    const instrument = assign('executor', 1, { since: [now] })
    lagsAre([{ stage: 'executor', partition: 1, records: 7, seconds: 2.5 }])
    expect(await seen('weir_lag_')).toEqual({
      'weir_lag_records{stage="executor",partition="1"}': 7,
      'weir_lag_seconds{stage="executor",partition="1"}': 2.5,
    })
    instrument.closed()
    lagsAre([])
    expect(Object.keys(await seen('weir_lag_'))).toEqual([])
    expect(await seen('weir_open_units')).toEqual({})
  })
})

describe('metrics', () => {
  it('hold no id, no name of an agent or tool, and no text of any record', async () => {
    const { assign, metrics } = world()
    assign('conversation').acknowledged({
      read: [stored(0, encode(modelRequest({ agent: 'an-agent' })))],
      ...written(turnFinished),
    })
    expect(await metrics.text()).not.toMatch(
      /a-conversation-id|a-message-id|an-agent|a_tool|the reply/,
    )
  })

  it('belong to one instance: a second one starts at zero, and the global registry stays empty', async () => {
    const first = world()
    first.assign('conversation').acknowledged({ read: [], ...written(turnFinished) })
    expect(await world().seen('weir_turns_total')).toEqual({})
    expect(await register.metrics()).toBe('\n')
  })
})

describe('the clock and the damage of a process', () => {
  it('are metrics as soon as they are known', async () => {
    let skewMs: number | undefined
    const metrics = createMetrics({
      stages: ['validator'],
      partitions: createReadPartitions({ now: () => now }),
      clock: { now: () => now },
      lags: async () => [],
      skewMs: () => skewMs,
      damaged: () => new Map([['validator' as const, 2]]),
      ofProcess: false,
    })
    expect(seriesOf(await metrics.text())).toMatchObject({
      'weir_partitions_damaged{stage="validator"}': 2,
    })
    expect(seriesOf(await metrics.text())).not.toHaveProperty('weir_clock_skew_seconds')
    skewMs = -3_600_000
    expect(seriesOf(await metrics.text())).toHaveProperty('weir_clock_skew_seconds', -3_600)
    skewMs = undefined
    expect(seriesOf(await metrics.text())).not.toHaveProperty('weir_clock_skew_seconds')
  })
})
