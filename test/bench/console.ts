// The console over 100,000 conversations and a million records of activity: the fold of these records
// with its memory, and the first paint of two pages. The log is seeded straight to the embedded bus,
// and the server is a process (console-runner.ts). Run alone: node test/bench/console.ts
//
// First paint is first-contentful-paint of headless Chromium without a graphics card, from the
// navigation on, in a new context each time. The rows and the open turns are there later: the second
// value. Not measured: Kafka, a phone, a page from a network, keys, and a server that still reads.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { findChromium } from '../support/chromium.ts'
import type { ConsoleFacts } from './console-runner.ts'
import { median } from './kafka-figures.ts'
import type { Row } from './row.ts'

const tries = 5

const pages = [
  { name: 'conversations', hash: '#/conversations', ready: '.conversation-row' },
  { name: 'now', hash: '#/now', ready: '.states .state' },
]

export async function benchConsole(): Promise<Row[]> {
  const child = fork(join(import.meta.dirname, 'console-runner.ts'), {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  })
  try {
    const [facts] = (await once(child, 'message')) as [ConsoleFacts]
    const { url, records, foldMs, heapEarly, heapWhole } = facts
    const megabytes = (bytes: number) => bytes / 1e6
    const rows: Row[] = [
      { name: `console: fold of ${records} records`, value: foldMs / 1_000, unit: 's CPU' },
      { name: 'console: heap at a tenth of them', value: megabytes(heapEarly), unit: 'MB' },
      {
        name: 'console: heap at all of them',
        value: megabytes(heapWhole),
        unit: 'MB',
        baseline: 'a tenth of them',
        ratio: heapWhole / heapEarly,
      },
    ]
    const program = findChromium()
    if (program !== undefined) return [...rows, ...(await painted(program, url))]
    const notMeasured = 'this machine has no Chromium (CHROMIUM names one)'
    return [...rows, { name: 'console: first paint', value: 0, unit: '', notMeasured }]
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
}

async function painted(program: string, url: string): Promise<Row[]> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  await using browser = await chromium.launch({ executablePath: program, headless: true, args })
  const rows: Row[] = []
  for (const { name, hash, ready } of pages) {
    const paints: number[] = []
    const readies: number[] = []
    for (let n = 0; n < tries; n += 1) {
      const { paint, readyMs } = await opened(browser, `${url}/console${hash}`, ready)
      paints.push(paint)
      readies.push(readyMs)
    }
    rows.push(
      { name: `console: first paint of ${name} (goal < 500)`, value: median(paints), unit: 'ms' },
      { name: `console: its data is there, ${name}`, value: median(readies), unit: 'ms' },
    )
  }
  return rows
}

/** Milliseconds from the navigation on. */
async function opened(browser: Browser, address: string, ready: string) {
  await using context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(address)
  await page.waitForSelector(ready, { timeout: 120_000 })
  const readyMs = await page.evaluate<number>('performance.now()')
  const paint = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`,
  )
  return { paint, readyMs }
}

if (import.meta.main) console.table(await benchConsole())
