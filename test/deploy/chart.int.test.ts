// The chart as Helm renders it: the golden files, and the errors of values that contradict each
// other. Skipped without the Helm that `make check-deploy` builds, because that takes minutes.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { contradictions } from './contradictions.ts'
import { goldenPath, rendered, valueFiles } from './render.ts'
import { isBuilt } from './tools.ts'

const withHelm = isBuilt('helm') ? describe : describe.skip

withHelm('the chart with Helm (make check-deploy builds it)', () => {
  it.each(valueFiles)('renders the golden file of %s', (name) => {
    expect(rendered(name)).toBe(readFileSync(goldenPath(name), 'utf8'))
  })

  it('renders the server for values from before serve.approver, which helm upgrade may reuse', () => {
    expect(rendered('fronts', ['serve.approver=null'])).toBe(rendered('fronts'))
  })

  it.each(contradictions)('refuses $title', ({ of, values, error }) => {
    expect(() => rendered(of, values)).toThrow(error)
  })

  it('has the dashboard that ships, unchanged', () => {
    const dashboard = readFileSync(
      new URL('../../deploy/chart/files/grafana-dashboard.json', import.meta.url),
      'utf8',
    )
    const text = rendered('minimal', ['metrics.dashboard=true'])
    expect(text).toContain(`weir.json: ${JSON.stringify(dashboard)}`)
  })
})
