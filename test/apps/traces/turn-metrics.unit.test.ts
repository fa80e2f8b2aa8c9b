// The metrics of turns, counted from spans, and their names.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { metricNames, names, operations } from '../../../apps/traces/names.ts'
import { metricNamesIn } from '../../../apps/traces/send-metrics.ts'
import type { Attributes, Span } from '../../../apps/traces/span.ts'
import { turnMetrics } from '../../../apps/traces/turn-metrics.ts'

const since = 1_000

function span(operation: string, attributes: Attributes, [start, end] = [since, since]): Span {
  return {
    trace: 't',
    id: 's',
    parent: undefined,
    name: operation,
    kind: 'internal',
    start,
    end,
    attributes: { [names.operation]: operation, ...attributes },
  }
}

const model = { [names.provider]: 'anthropic', [names.model]: 'm' }
const attempt = span(
  operations.attempt,
  { ...model, [names.inputTokens]: 7, [names.outputTokens]: 2, [names.conversation]: 'secret' },
  [since, since + 3_000],
)

const metricsOf = (spans: Span[], named = metricNamesIn(undefined)) => {
  const metrics = turnMetrics(named, since)
  for (const one of spans) metrics.count(one)
  return new Map(metrics.all().map((metric) => [metric.name, metric]))
}

describe('the metrics of turns', () => {
  it('have the names of version 0.1.0 of the conventions', () => {
    expect(Object.values(metricNames)).toEqual([
      'gen_ai.client.inference.duration',
      'gen_ai.client.inference.usage.input_tokens',
      'gen_ai.client.inference.usage.output_tokens',
      'gen_ai.client.inference.usage.cache_read.input_tokens',
      'gen_ai.client.inference.usage.cache_write.input_tokens',
      'gen_ai.execute_tool.duration',
      'gen_ai.invoke_agent.duration',
      'gen_ai.invoke_agent.inference_calls',
      'gen_ai.invoke_agent.tool_calls',
    ])
  })

  it('count tokens and seconds of attempts by provider and model, without an id', () => {
    const metrics = metricsOf([attempt, attempt])
    const [tokens] = metrics.get(metricNames.inputTokens)?.points ?? []
    expect(tokens).toMatchObject({ value: 14 })
    expect(Object.keys(tokens?.attributes ?? {})).toEqual([
      ...[names.operation, names.provider, names.model],
    ])
    expect(metrics.get(metricNames.attemptDuration)?.points).toMatchObject([
      { count: 2, sum: 6, buckets: [...'00000000020000'].map(Number) },
    ])
    expect(JSON.stringify([...metrics])).not.toContain('secret')
  })

  it('count calls by tool and error, and turns by agent', () => {
    const ok = span(operations.call, { [names.tool]: 'exec' })
    const failed = span(operations.call, { [names.tool]: 'exec', [names.errorType]: 'error' })
    const turn = span(operations.turn, {
      [names.agent]: 'a',
      [names.rounds]: 3,
      [names.calls]: 300,
    })
    const metrics = metricsOf([ok, failed, turn])
    expect(metrics.get(metricNames.callDuration)?.points).toHaveLength(2)
    const [calls] = metrics.get(metricNames.turnCalls)?.points ?? []
    expect(calls).toMatchObject({ buckets: [...new Array(10).fill(0), 1] }) // above all bounds
  })

  it('leave out spans that ended before the command began', () => {
    expect(metricsOf([{ ...attempt, start: 1, end: since - 1 }]).size).toBe(0)
  })

  it('keep a bounded number of series', () => {
    const many = Array.from({ length: 5_000 }, (_, n) =>
      span(operations.call, { [names.tool]: `tool-${n}` }),
    )
    const metric = metricsOf(many).get(metricNames.callDuration)
    expect(metric?.points).toHaveLength(2_000)
  })
})

describe('a file with names of metrics', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-metric-names-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const named = (content: string) => {
    const file = join(folder, 'names.json')
    writeFileSync(file, content)
    return metricNamesIn(file)
  }

  it('renames metrics, and leaves out those that are null', () => {
    const given = { [metricNames.inputTokens]: 'tokens.in', [metricNames.attemptDuration]: null }
    const metrics = metricsOf([attempt], named(JSON.stringify(given)))
    expect([...metrics.keys()]).toEqual(['tokens.in', metricNames.outputTokens])
  })

  it.each([
    ['{', 'is not JSON'],
    ['[]', 'must be an object'],
    ['{"gen_ai.other": "a"}', 'has no metric "gen_ai.other"; they are: gen_ai.client.inference'],
    [
      '{"gen_ai.execute_tool.duration": "1 a"}',
      'has a wrong name for gen_ai.execute_tool.duration',
    ],
  ])('with %s is refused', (content, fault) => {
    expect(() => named(content)).toThrow(fault)
  })

  it('that is missing is refused', () => {
    expect(() => metricNamesIn(join(folder, 'none.json'))).toThrow('(--metric-names)')
  })
})
