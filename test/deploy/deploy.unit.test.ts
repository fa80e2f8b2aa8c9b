// The alert rules and the dashboard that ship: each metric, label and label value exists.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { guardMetricTable } from '../../apps/service/metrics/guard-metrics.ts'
import { metricTable } from '../../apps/service/metrics/metrics.ts'
import type { ResultStatus } from '../../shared/contract/messages.ts'
import { stageNames } from '../../shared/contract/topology.ts'
import { mistakesIn } from './expressions.ts'

type Rule = {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; action: string }
}
type Dashboard = {
  panels: { id: number; title: string; targets: { expr: string; legendFormat: string }[] }[]
}

const folder = join(import.meta.dirname, '../../deploy/chart/files')
const { groups } = parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as {
  groups: { name: string; rules: Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(
  readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8'),
) as Dashboard
const targets = dashboard.panels.flatMap((panel) => panel.targets)

const ends: Record<ResultStatus, true> = {
  ...{ ok: true, error: true, denied: true, timed_out: true, skipped: true },
  ...{ unknown: true, unseen: true },
}

/** The labels that a template names. */
const placeholders = (text: string) =>
  [...text.matchAll(/{{\s*(?:\$labels\.)?(\w+)\s*}}/g)].map(([, label]) => label as string)

describe('the check of expressions', () => {
  it.each([
    ['weir_turn_total', 'unknown metric weir_turn_total'],
    ['sum by (stages) (weir_open_units)', 'no label stages'],
    ['weir_results_total{state="ok"}', 'no label state'],
    ['weir_tool_duration_seconds', 'unknown metric weir_tool_duration_seconds'],
    ['sum(weir_open_units', 'unbalanced brackets'],
    ['1 > 0', 'no metric'],
  ])('finds the mistake in %s', (expr, mistake) => {
    expect(mistakesIn(expr)).toEqual([mistake])
  })
})

describe('the alert rules', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s uses metrics that exist, and names its severity and an action',
    (_, { expr, labels, annotations, for: wait = '0m' }) => {
      expect(mistakesIn(expr)).toEqual([])
      expect(['warning', 'critical']).toContain(labels.severity)
      expect(annotations.summary).toMatch(/\.$/)
      expect(annotations.action).toMatch(/\S/)
      expect(wait).toMatch(/^\d+[smh]$/)
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
        list.split(/,\s*/),
      )
      for (const label of placeholders(annotations.summary + annotations.action))
        if (label !== 'value') expect([...kept, 'instance']).toContain(label)
    },
  )

  it('match only ends of calls that exist', () => {
    const matched = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/\bstatus="([^"]*)"/g)].map(([, status]) => status as string),
    )
    expect(matched.length).toBeGreaterThan(0)
    expect(Object.keys(ends)).toEqual(expect.arrayContaining(matched))
  })

  it('have unique names, and stages that exist', () => {
    const names = rules.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
    const matched = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/stage=~"([^"]*)"/g)].flatMap(([, list = '']) => list.split('|')),
    )
    expect(matched.length).toBeGreaterThan(0)
    for (const stage of matched) expect(stageNames).toContain(stage)
  })
})

describe('the dashboard', () => {
  it.each(targets.map((target) => [target.expr, target] as const))(
    'shows %s, which exists',
    (_, { expr, legendFormat }) => {
      expect(mistakesIn(expr)).toEqual([])
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
        list.split(/,\s*/),
      )
      for (const label of placeholders(legendFormat)) expect([...kept, 'instance']).toContain(label)
    },
  )

  it('shows every metric of Weir, but for those that another one contains', () => {
    const shown = targets.map(({ expr }) => expr).join(' ')
    const contained = [
      'weir_records_folded_again_total',
      'weir_read_bytes_total',
      'weir_written_bytes_total',
      'weir_guard_rounds_total',
    ]
    const missing = [metricTable, guardMetricTable]
      .flatMap(({ counters, histograms, gauges }) =>
        Object.values({ ...counters, ...histograms, ...gauges }),
      )
      .map(([name]) => name as string)
      .filter((name) => !contained.includes(name) && !shown.includes(name))
    expect(missing).toEqual([])
  })

  it('has unique panels', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
