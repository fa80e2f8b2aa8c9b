// Metrics that a process sends to a backend of OpenTelemetry.

import { expect, it } from '@jest/globals'
import { pushMetrics } from '../../../../apps/service/metrics/pushed-metrics.ts'
import { backendOf } from '../../../../apps/traces/send-spans.ts'

it('a process ends although its last metrics cannot be read', async () => {
  const warnings: unknown[] = []
  const pushed = pushMetrics(backendOf('http://127.0.0.1:9', {}, 'metrics'), {
    metrics: { all: () => Promise.reject(new Error('the log is closed')) },
    log: { warn: (...given: unknown[]) => void warnings.push(given) },
  })
  await pushed.close()
  expect(warnings).toHaveLength(2)
})
