// Texts and numbers of the page that users copy to paper or to the command line, in a real browser
// if the machine has one.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { indexEntry, listedEntry } from '../../../apps/report/index-entry.ts'
import { pageHtml } from '../../../apps/report/page-html.ts'
import { reportData } from '../../../apps/report/report-data.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import { type Browser, findChromium, openChromium } from '../../support/chromium.ts'
import { longConversation } from './long-conversation.ts'
import { answeredTurn, inTurns } from './several-turns.ts'

const program = findChromium()
const inBrowser = program === undefined ? describe.skip : describe
const folder = mkdtempSync(join(tmpdir(), 'weir-report-words-'))
const file = join(folder, 'page.html')
let browser: Browser

/** `listed`: conversations without data in the page. */
async function open(shown: Logged[][], listed: string[] = []): Promise<void> {
  const reports = shown.map((records) =>
    reportData(timelineOf('c', records, { reasoning: true }), records, {
      partition: 2,
      topicPrefix: 'weir.',
    }),
  )
  const entries = reports.map(({ data }, place) =>
    indexEntry({ conversation: `c${place}`, from: 0, place }, data),
  )
  const conversations = [...entries, ...listed.map(listedEntry)]
  writeFileSync(
    file,
    pageHtml(
      { madeAt: 0, source: 'a test', exportedAt: null, redaction: null, conversations },
      reports,
    ).join(''),
  )
  await browser.open(file)
}

const text = (what: string) =>
  browser.evaluate<string>(`document.querySelector(${JSON.stringify(what)}).textContent`)

inBrowser('the page', () => {
  beforeAll(async () => {
    browser = await openChromium(program ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has all rounds on paper despite a search, and the search result again afterwards', async () => {
    await open([longConversation(12, 5)])
    await browser.evaluate(`document.querySelector('input[value="interventions"]').click()`)
    const rows = () => browser.evaluate<number>('document.querySelectorAll(".round-row").length')
    expect(await rows()).toBe(3)
    await browser.evaluate('dispatchEvent(new Event("beforeprint"))')
    expect(await rows()).toBe(12)
    await browser.evaluate('dispatchEvent(new Event("afterprint"))')
    expect(await rows()).toBe(3)
    expect(await text('output')).toBe('3 rounds')
  })

  it.each([390, 1440])(
    'keeps each heading of the table of streaks on one line, %i pixels wide',
    async (width) => {
      await browser.send('Emulation.setDeviceMetricsOverride', {
        width,
        height: 900,
        deviceScaleFactor: 1,
        mobile: false,
      })
      await open([longConversation(12, 5)])
      await browser.evaluate('document.querySelector(".loop-head").click()')
      await browser.evaluate(
        'document.querySelectorAll(".round-head").forEach((one) => one.click())',
      )
      const heights =
        '[...document.querySelectorAll(".streaks th")].map((one) => { const range = document.createRange(); range.selectNodeContents(one); return range.getClientRects().length })'
      expect(new Set(await browser.evaluate<number[]>(heights))).toEqual(new Set([1]))
    },
  )

  it('shows the number of each turn that the command line uses', async () => {
    await open([inTurns([answeredTurn(), answeredTurn()])])
    const heads = '[...document.querySelectorAll(".turn-head h2")].map((one) => one.textContent)'
    expect(await browser.evaluate(heads)).toEqual([
      expect.stringMatching(/^Turn 1 1 round, .*, offset 0$/),
      expect.stringMatching(/^Turn 2 1 round, .*, offset 10$/),
    ])
  })

  it('writes the address of a record in the form of weir replay', async () => {
    await open([answeredTurn()])
    await browser.evaluate('document.querySelector(".round-head").click()')
    await browser.evaluate('document.querySelector(".round-row .records summary").click()')
    await browser.evaluate(
      `new Promise((done) => { const check = () => (document.querySelector('.round-row .address') ? done(null) : setTimeout(check, 10)); check() })`,
    )
    expect(await text('.round-row .address')).toMatch(/^weir\.[a-z-]+\/2\/\d+$/)
  })

  it('shows the number of its conversations if others are only listed', async () => {
    await open([answeredTurn(), answeredTurn()], ['x', 'y', 'z'])
    expect(await text('h1')).toBe(
      '5 conversations; of the newest 2, which are in this page: 2 answered.',
    )
    await open([answeredTurn(), answeredTurn()])
    expect(await text('h1')).toBe('2 conversations, all of them answered.')
  })
})
