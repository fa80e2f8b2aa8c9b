// The cost of a report of 5,000 rounds: making the page, opening it, scrolling it, and searching it
// for a word.
//
// The browser is the machine's Chromium, without a window and without a graphics card, so the CPU
// does all drawing. The browser reports first paint (first-contentful-paint, from the navigation
// on). A frame is the time between two callbacks of requestAnimationFrame. Meanwhile the page
// scrolls down from its top in 200 steps of 300 pixels, as fast as a strong push of a finger. Other
// programs on the machine affect both values. They do not affect the CPU time of the page's tasks,
// from the browser's own trace. A task's time on the main thread is the minimum of its frame's
// time.
//
// Not measured: a graphics card, a phone, other browsers, reading the log (records are in memory),
// and a page from a network.

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timelineOf } from '../../apps/history/inspect/timeline-of.ts'
import { indexEntry } from '../../apps/report/index-entry.ts'
import { pageHtml } from '../../apps/report/page-html.ts'
import { reportData } from '../../apps/report/report-data.ts'
import { longConversation } from '../apps/report/long-conversation.ts'
import { findChromium, openChromium } from '../support/chromium.ts'
import type { Row } from './row.ts'

const rounds = 5_000

/** All rows of the report. */
export async function benchReport(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-report-'))
  try {
    const file = join(folder, 'report.html')
    const made = make(file)
    const program = findChromium()
    if (program === undefined)
      return [
        ...made,
        {
          name: 'opening it',
          value: 0,
          unit: '',
          notMeasured: 'this machine has no Chromium (CHROMIUM names one)',
        },
      ]
    return [...made, ...(await opened(program, file))]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function make(file: string): Row[] {
  const records = longConversation(rounds, 300)
  const start = process.cpuUsage()
  const report = reportData(timelineOf('long', records, { reasoning: true }), records, {
    partition: 0,
    topicPrefix: 'weir.',
  })
  const entry = indexEntry({ conversation: 'long', from: 0, place: 0 }, report.data)
  const pieces = pageHtml(
    { madeAt: 0, source: 'a bench', exportedAt: null, redaction: null, conversations: [entry] },
    [report],
  )
  const { user, system } = process.cpuUsage(start)
  writeFileSync(file, pieces.join(''))
  return [
    {
      name: `report of ${rounds} rounds, ${records.length} records: made in`,
      value: (user + system) / 1000,
      unit: 'ms CPU',
    },
    { name: 'its size', value: statSync(file).size / 1e6, unit: 'MB' },
  ]
}

async function opened(program: string, file: string): Promise<Row[]> {
  const browser = await openChromium(program)
  try {
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width: 1440,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    })
    const before = await browser.cpuMs()
    await browser.open(file)
    const paint = await browser.evaluate<number>(firstPaint)
    const opening = (await browser.cpuMs()) - before
    const { value: frames, tasks } = await browser.traced(() =>
      browser.evaluate<number[]>(scrolling),
    )
    const search = await browser.evaluate<number>(searching)
    if (browser.problems.length > 0)
      throw new Error(`the page reports errors: ${browser.problems.join('\n')}`)
    return [
      { name: 'first contentful paint (goal: below 1000)', value: paint, unit: 'ms' },
      { name: 'opening it, all threads of the page', value: opening, unit: 'ms CPU' },
      {
        name: `scrolling through it, ${frames.length} frames: median`,
        value: at(frames, 0.5),
        unit: 'ms',
      },
      { name: 'the slowest frame (goal: not over 50)', value: at(frames, 1), unit: 'ms' },
      { name: 'frames over 50 ms', value: frames.filter((ms) => ms > 50).length, unit: '' },
      {
        name: "the page's longest task while it scrolls: script, style, layout (goal: not over 50)",
        value: at(tasks, 1),
        unit: 'ms CPU',
      },
      { name: 'its tasks over 50 ms', value: tasks.filter((ms) => ms > 50).length, unit: '' },
      { name: 'search for a word, until its rows are there', value: search, unit: 'ms' },
    ]
  } finally {
    await browser.close()
  }
}

function at(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

const firstPaint = `new Promise((resolve) => {
  const found = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime
  const look = () => (found() === undefined ? requestAnimationFrame(look) : resolve(found()))
  look()
})`

const scrolling = `new Promise((resolve) => {
  const frames = []
  let last
  let steps = 0
  const step = (now) => {
    if (last !== undefined) frames.push(now - last)
    last = now
    scrollBy(0, 300)
    if (++steps > 200) resolve(frames)
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

const searching = `new Promise((resolve) => {
  scrollTo(0, 0)
  const field = document.querySelector('input[type=search]')
  const result = document.querySelector('output')
  const start = performance.now()
  new MutationObserver(() => resolve(performance.now() - start)).observe(result, { childList: true })
  field.value = 'file-42'
  field.dispatchEvent(new Event('input'))
})`
