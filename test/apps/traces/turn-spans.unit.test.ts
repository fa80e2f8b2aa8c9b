import { describe, expect, it } from '@jest/globals'
import type { Span } from '../../../apps/traces/span.ts'
import { createTurnSpans, type SpanOptions } from '../../../apps/traces/turn-spans.ts'
import type { Activity } from '../../../client/edge/edge.ts'
import type { MessageOf } from '../../../shared/contract/messages.ts'
import { traceparentOf } from '../../../shared/contract/trace-ids.ts'
import {
  callDenied,
  callFinished,
  interventionRaised,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../../support/activity.ts'
import { verdictWith } from '../../support/messages.ts'

const place = { conversation: 'c', turn: 7 }
const options: SpanOptions = {
  content: false,
  modelOf: (agent) => (agent === 'agent' ? { provider: 'anthropic', name: 'opus' } : undefined),
}

const answered = (fields: Partial<MessageOf<'model-answered'>> = {}): Activity => ({
  type: 'model-answered',
  ...place,
  round: 1,
  attempt: 'a',
  text: 'SECRET TEXT',
  textBytes: 11,
  stop: 'calls',
  calls: [
    {
      ordinal: 0,
      id: 'toolu_1',
      name: 'exec',
      arguments: '{"x":"SECRET"}',
      argumentsBytes: 14,
      problem: null,
    },
  ],
  usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 1 },
  ...fields,
})

const retry: Activity = {
  type: 'model-retry',
  ...place,
  round: 1,
  attempt: 'x',
  next: 2,
  reason: 'status 529',
  waitMs: 50,
}

const verdict: Activity = {
  type: 'guard-verdict-given',
  ...place,
  round: 1,
  guard: 'folders',
  version: '3',
  answer: 'verdicts',
  waitedMs: 40,
  verdicts: [verdictWith({ verdict: 'deny', code: 'outside', text: 'no' })],
}

/** Each record ten milliseconds after the one before, from 1,000 on. */
function spansOf(records: readonly Activity[], given: Partial<SpanOptions> = {}): Span[] {
  const spans = createTurnSpans({ ...options, ...given })
  return records.flatMap((record, at) => spans.read(record, 1_000 + at * 10))
}

function byName(spans: readonly Span[], name: string): Span {
  const [span, ...others] = spans.filter((one) => one.name === name)
  if (span === undefined || others.length > 0)
    throw new Error(`${name}: ${spans.map((one) => one.name).join(', ')}`)
  return span
}

const wholeTurn = [
  turnStarted(),
  roundStarted(),
  answered(),
  verdict,
  toolStarted(),
  callFinished(0, { result: 'SECRET RESULT' }),
  turnFinished(),
]

describe('the spans of a turn', () => {
  it('are one tree: the turn is the root, and all others are its children', () => {
    const spans = spansOf(wholeTurn)
    const root = byName(spans, 'invoke_agent agent')
    expect(root.parent).toBeUndefined()
    expect(spans.map(({ name }) => name)).toEqual([
      'chat opus',
      'weir.guard folders',
      'execute_tool exec',
      'invoke_agent agent',
    ])
    expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1)
    expect(new Set(spans.map(({ id }) => id)).size).toBe(4)
    for (const span of spans) if (span !== root) expect(span.parent).toBe(root.id)
  })

  it('have the same ids when the log is read again, also from the middle of the turn', () => {
    const ids = (records: readonly Activity[]) =>
      spansOf(records).map(({ trace, id }) => [trace, id])
    expect(ids(wholeTurn)).toEqual(ids(wholeTurn))
    expect(ids(wholeTurn.slice(4))).toEqual(ids(wholeTurn).slice(2))
  })

  it('begin and end at the append times of their records', () => {
    const spans = spansOf(wholeTurn)
    expect(byName(spans, 'chat opus')).toMatchObject({ start: 1_010, end: 1_020 })
    expect(byName(spans, 'weir.guard folders')).toMatchObject({ start: 990, end: 1_030 })
    expect(byName(spans, 'execute_tool exec')).toMatchObject({ start: 1_040, end: 1_050 })
    expect(byName(spans, 'invoke_agent agent')).toMatchObject({ start: 1_000, end: 1_060 })
  })

  it('name the model, its tokens with cached ones, and the conversation as the session', () => {
    const spans = spansOf(wholeTurn)
    expect(byName(spans, 'chat opus').attributes).toMatchObject({
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'opus',
      'gen_ai.usage.input_tokens': 111,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.response.finish_reasons': ['tool_calls'],
    })
    expect(byName(spans, 'invoke_agent agent').attributes).toMatchObject({
      'session.id': 'c',
      'gen_ai.conversation.id': 'c',
    })
  })

  it('hold no text of the model and of tools unless content is wanted', () => {
    expect(JSON.stringify(spansOf(wholeTurn))).not.toContain('SECRET')
    const whole = JSON.stringify(spansOf(wholeTurn, { content: true }))
    for (const text of ['SECRET TEXT', 'SECRET RESULT', '{\\"x\\":\\"SECRET\\"}'])
      expect(whole).toContain(text)
  })

  it('give each attempt a span, and the failed ones their reason', () => {
    const spans = spansOf([turnStarted(), roundStarted(), retry, answered(), turnFinished()])
    const [first, second] = spans
    expect(first).toMatchObject({ name: 'chat opus', end: 1_020, error: 'status 529' })
    expect(second).toMatchObject({ name: 'chat opus', start: 1_070, error: undefined })
    expect(first?.id).not.toBe(second?.id)
  })

  it('end an attempt without an answer with its turn', () => {
    const failed = turnFinished({ outcome: 'failed', class: 'transient', reason: 'SECRET' })
    const spans = spansOf([turnStarted(), roundStarted(), failed])
    expect(byName(spans, 'chat opus').error).toBe('transient')
    expect(byName(spans, 'invoke_agent agent').attributes).toMatchObject({
      'error.type': 'transient',
      'weir.outcome': 'failed',
    })
    expect(JSON.stringify(spans)).not.toContain('SECRET')
  })

  it('have no second attempt if the response is written before the beginning of its round', () => {
    const spans = spansOf([turnStarted(), answered(), roundStarted(), turnFinished()])
    expect(spans.map(({ name }) => name)).toEqual(['chat opus', 'invoke_agent agent'])
  })

  it('have no attempt for a request that a budget refused, and one that a cap ended', () => {
    const begun = [turnStarted(), roundStarted()]
    const refused = turnFinished({ outcome: 'failed', class: 'budget' })
    expect(spansOf([...begun, refused]).map(({ name }) => name)).toEqual(['invoke_agent agent'])
    const capped = turnFinished({ outcome: 'capped', class: 'budget', cap: 'wall' })
    expect(byName(spansOf([...begun, capped]), 'chat opus').error).toBe('budget')
  })

  it('have no span for a call that never ran, but an event', () => {
    const spans = spansOf([
      turnStarted(),
      callDenied("missing required field 'command'"),
      callFinished(1, { status: 'denied', reason: 'by a guard' }),
      interventionRaised('cycle', 'it repeats'),
      turnFinished(),
    ])
    expect(spans).toHaveLength(1)
    expect(spans[0]?.events?.map(({ name }) => name)).toEqual([
      'weir.call_denied',
      'weir.call_denied',
      'weir.intervention',
    ])
  })

  it('mark a call whose outcome is unknown as failed', () => {
    const unknown = callFinished(0, { status: 'unknown', reason: 'killed' })
    const span = byName(spansOf([turnStarted(), toolStarted(), unknown]), 'execute_tool exec')
    expect(span).toMatchObject({ error: 'unknown' })
    expect(span.attributes).toMatchObject({ 'weir.outcome': 'unknown' })
  })

  it('keep a result that comes after the end of its cancelled turn in the tree', () => {
    const spans = spansOf([
      turnStarted(),
      toolStarted(),
      turnFinished({ outcome: 'cancelled', class: 'cancelled' }),
      callFinished(),
    ])
    const root = byName(spans, 'invoke_agent agent')
    expect(byName(spans, 'execute_tool exec')).toMatchObject({ trace: root.trace, parent: root.id })
  })

  it('make the turn of an agent that a call runs a child of that call', () => {
    const caller = spansOf(wholeTurn)
    const inner = { conversation: 'call/c/7/1/0', turn: 3 }
    const [root] = spansOf([
      { ...turnStarted(), ...inner },
      { ...turnFinished(), ...inner },
    ])
    const call = byName(caller, 'execute_tool exec')
    expect(root).toMatchObject({ trace: call.trace, parent: call.id })
  })

  it('have the ids that the tool of the call gets as traceparent', () => {
    const { trace, id } = byName(spansOf(wholeTurn), 'execute_tool exec')
    expect(traceparentOf({ ...place, round: 1, ordinal: 0 })).toBe(`00-${trace}-${id}-01`)
  })

  it('give a turn whose beginning was not read its length by its totals', () => {
    const [root] = spansOf([turnFinished()])
    expect(root).toMatchObject({ name: 'invoke_agent', start: 1_000 - 3_210, end: 1_000 })
  })
})
