// The README shows real output of the demo.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { runDemo } from '../apps/demo/demo.ts'
import { startDemoProxy } from '../apps/http/demo-proxy.ts'
import { readSettings } from '../shared/settings/settings.ts'
import { output } from './support/output.ts'

test('README.md shows six lines of the demo, each as the demo prints it', async () => {
  const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')
  const shown = /^```\n(.*?)\n```$/ms.exec(readme)?.[1]?.split('\n') ?? []
  expect(shown).toHaveLength(6)

  const { stream, text } = output()
  await runDemo(
    { bad: 'reflex' },
    { settings: readSettings({ logLevel: 'silent' }, {}), startProxy: startDemoProxy },
    stream,
  )
  const printed = text().split('\n')
  expect(shown.filter((line) => !printed.includes(line))).toEqual([])
})
