// The sums of a scan stay bounded for a session that names thousands of tools.

import { expect, it } from '@jest/globals'
import { createScanTotals } from '../../../../apps/replay/scan/scan-totals.ts'

it('counts the secrets and calls of further tools together, and shows the most frequent secrets', () => {
  const totals = createScanTotals()
  const names = Array.from({ length: 5000 }, (_, at) => `tool-${at}`)
  totals.add('codex', 'a.jsonl', {
    conversation: 'a',
    ...{ turns: 1, rounds: 1, calls: 5000, tokens: 0, loops: [] },
    tools: new Map(names.map((name) => [name, { calls: 1, failed: 1 }])),
    secrets: names.map((tool) => ({ kind: 'key', tool })),
  })
  const { secrets, failing } = totals.scanned()
  expect(secrets).toHaveLength(20)
  expect(secrets[0]).toMatchObject({ tool: 'other tools', values: 4000 })
  expect(failing[0]).toMatchObject({ tool: 'other tools', calls: 4000, failed: 4000 })
})
