// The page of a sweep in a real browser, if the machine has one.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { scanHtml } from '../../../apps/replay/scan/scan-html.ts'
import { sweepHtml } from '../../../apps/replay/sweep-html.ts'
import type { SweepRow } from '../../../apps/replay/sweep-table.ts'
import { type Browser, findChromium, openChromium } from '../../support/chromium.ts'

const program = findChromium()
const inBrowser = program === undefined ? describe.skip : describe
const folder = mkdtempSync(join(tmpdir(), 'weir-sweep-'))
let browser: Browser

const row: SweepRow = {
  value: 2,
  touched: 1,
  roundsSaved: 5,
  tokensSaved: 500,
  milder: 0,
  roundsLater: 0,
  falseAlarms: 3,
}
const milder = { ...row, value: 3, touched: 2, milder: 2, roundsSaved: 0, roundsLater: 4 }
const key = 'loop.identicalFailures<img src=x onerror="document.body.dataset.obeyed=1">\u202E'

inBrowser('the page of a scan', () => {
  it('shows the loops as text, and runs nothing of them', async () => {
    const own = await openChromium(program ?? '')
    try {
      const file = join(folder, 'scan.html')
      const screen = {
        agents: ['Codex: 1 session'],
        verdict: { text: '1 loop.', isBad: true },
        loops: [{ title: '1. Codex, turn 1', reason: `cycle: ${key}`, file: '/a.jsonl' }],
        lists: [{ title: 'Tools that fail most', lines: ['Bash: 1 of 2 calls'] }],
        notes: ['left out: x'],
        commands: ['Guard Codex: weir hooks install codex'],
      }
      writeFileSync(file, scanHtml(screen).join(''))
      await own.open(file)
      expect(await own.evaluate('document.querySelector("h1").textContent')).toBe('1 loop.')
      expect(await own.evaluate('document.querySelectorAll("section").length')).toBe(2)
      expect(await own.evaluate('document.body.dataset.obeyed ?? "no"')).toBe('no')
    } finally {
      await own.close()
    }
  })
})

inBrowser('the page of a sweep', () => {
  beforeAll(async () => {
    browser = await openChromium(program ?? '')
    const file = join(folder, 'sweep.html')
    writeFileSync(file, sweepHtml({ key, conversations: 3, rows: [row, milder] }).join(''))
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width: 390,
      height: 800,
      deviceScaleFactor: 1,
      mobile: false,
    })
    await browser.open(file)
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has a row for each value, with an unknown saving where all changes are milder', async () => {
    const cells =
      '[...document.querySelectorAll("tbody tr")].map((one) => [...one.cells].map((cell) => cell.textContent))'
    expect(await browser.evaluate(cells)).toEqual([
      ['2', '1', '≤ 5', '≤ 500', '0', '3'],
      ['3', '2', 'unknown', 'unknown', '≥ 4', '3'],
    ])
    expect(await browser.evaluate('document.body.innerText')).toContain(
      'a milder value lets that many rounds more run at least',
    )
  })

  it('draws a plot of the width of the page, without a problem with its policy', async () => {
    const width = 'document.querySelector(".chart canvas").getBoundingClientRect().width'
    expect(await browser.evaluate<number>(width)).toBeGreaterThan(300)
    expect(await browser.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(browser.problems).toEqual([])
  })

  it('shows a hostile name as text', async () => {
    expect(await browser.evaluate('document.body.dataset.obeyed ?? null')).toBeNull()
    expect(await browser.evaluate('document.querySelectorAll("img").length')).toBe(0)
    const text = await browser.evaluate<string>('document.querySelector("h1").textContent')
    expect(text).toContain('<img src=x')
    expect(text).toContain('\\u{202e}')
  })
})
