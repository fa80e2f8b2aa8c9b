// The page in a real browser. Without a Chromium on the machine, these tests are skipped and
// reported as such.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { indexEntry } from '../../../apps/report/index-entry.ts'
import { pageHtml } from '../../../apps/report/page-html.ts'
import { reportData } from '../../../apps/report/report-data.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import { conversationLog, response } from '../../shared/view/conversation-log.ts'
import { type Browser, findChromium, openChromium } from '../../support/chromium.ts'
import { hostileConversation, hostileTexts } from './hostile-conversation.ts'
import { longConversation } from './long-conversation.ts'
import { answeredTurn, inTurns } from './several-turns.ts'

const program = findChromium()
const inBrowser = program === undefined ? describe.skip : describe
const folder = mkdtempSync(join(tmpdir(), 'weir-report-'))
let browser: Browser

function fileOf(name: string, conversations: Record<string, Logged[]>): string {
  const reports = Object.values(conversations).map((records) =>
    reportData(timelineOf(name, records, { reasoning: true }), records, {
      partition: 0,
      topicPrefix: 'weir.',
    }),
  )
  const entries = Object.keys(conversations).map((conversation, place) =>
    indexEntry({ conversation, from: 0, place }, reports[place]!.data),
  )
  const file = join(folder, `${name}.html`)
  writeFileSync(
    file,
    pageHtml(
      { madeAt: 0, source: 'a test', exportedAt: null, redaction: null, conversations: entries },
      reports,
    ).join(''),
  )
  return file
}

async function press(key: string): Promise<void> {
  const text = key === 'Enter' ? '\r' : key
  await browser.send('Input.dispatchKeyEvent', {
    type: 'keyDown',
    key,
    ...(text.length === 1 && { text }),
  })
  await browser.send('Input.dispatchKeyEvent', { type: 'keyUp', key })
}

const focused = () =>
  browser.evaluate<string>(
    'document.activeElement.closest(".row")?.dataset.place ?? document.activeElement.type',
  )

/** Resolves as soon as the expression is true in the page. */
const until = (isSo: string) =>
  browser.evaluate(
    `new Promise((done) => { const check = () => ((${isSo}) ? done(null) : setTimeout(check, 10)); check() })`,
  )

inBrowser('the page in a browser', () => {
  beforeAll(async () => {
    browser = await openChromium(program ?? '')
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width: 1200,
      height: 800,
      deviceScaleFactor: 1,
      mobile: false,
    })
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('obeys nothing that a model, a tool or a user wrote, and shows all of it', async () => {
    await browser.open(fileOf('hostile', { c: hostileConversation() }))
    await browser.evaluate(
      'document.querySelectorAll(".round-head, summary, .more").forEach((one) => one.click())',
    )
    await until('document.querySelector(".record summary") !== null')
    await browser.evaluate(
      'document.querySelectorAll(".record summary").forEach((one) => one.click())',
    )
    expect(await browser.evaluate('document.body.dataset.obeyed ?? null')).toBeNull()
    expect(
      await browser.evaluate(
        'document.querySelectorAll("img, iframe, object, embed, #page script, #page [onload], #page [onerror]").length',
      ),
    ).toBe(0)
    const text = await browser.evaluate<string>('document.body.innerText')
    expect(text).toContain(hostileTexts[0])
    expect(text).toContain('\\u{202e}gnp.exe')
    expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u)
    expect(await browser.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const wide =
      '[...document.querySelectorAll(".details > *")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)'
    expect(await browser.evaluate(wide)).toEqual([])
    expect(browser.problems).toEqual([])
  })

  it('moves from row to row with j and k, opens and closes with Enter, and unfolds a loop', async () => {
    await browser.open(fileOf('keys', { c: longConversation(12, 5) }))
    for (const key of ['j', 'j', 'k', 'j']) await press(key)
    expect(await focused()).toBe('2')
    await press('Enter')
    expect(
      await browser.evaluate('document.querySelector(".details").getAttribute("aria-label")'),
    ).toBe('Round 2')
    await press('Enter')
    expect(await browser.evaluate('document.querySelector(".details")')).toBeNull()
    await press('n')
    expect(await focused()).toBe('8')
    expect(await browser.evaluate('document.querySelectorAll(".round-row").length')).toBe(7)
    await press('Enter')
    expect(await browser.evaluate('document.querySelectorAll(".round-row").length')).toBe(12)
    expect(await focused()).toBe('8')
  })

  it('finds rounds, shows their number, and shows all again with Escape', async () => {
    await press('/')
    expect(await focused()).toBe('search')
    await browser.send('Input.insertText', { text: 'file-3.ts' })
    await until('document.querySelector("output").textContent !== ""')
    expect(await browser.evaluate('document.querySelector("output").textContent')).toBe('1 round')
    await press('Escape')
    expect(await browser.evaluate('document.querySelector("output").textContent')).toBe('')
    await press('?')
    expect(await browser.evaluate('document.querySelector("dialog").open')).toBe(true)
  })

  it('fills only visible rows, and all of them for paper', async () => {
    await browser.open(fileOf('long', { c: longConversation(1_000, 0) }))
    const rows = () => browser.evaluate<number>('document.querySelectorAll(".round-row").length')
    expect(await rows()).toBeLessThan(200)
    await browser.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await until('[...document.querySelectorAll(".number")].at(-1).textContent === "1000"')
    expect(await rows()).toBeLessThan(400)
    await browser.evaluate('dispatchEvent(new Event("beforeprint"))')
    expect(await rows()).toBe(1_000)
  })

  it('makes few rows per frame, so that none is late while the user scrolls', async () => {
    await browser.open(fileOf('scrolled', { c: longConversation(400, 0) }))
    const most = await browser.evaluate(`new Promise((done) => {
      let most = 0
      const watcher = new MutationObserver((changes) => {
        const made = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.matches?.('.round-row')).length
        most = Math.max(most, made)
        if (document.querySelector('[data-place="300"]') !== null) done(most)
      })
      watcher.observe(document.querySelector('.chunk').parentNode, { childList: true, subtree: true })
      const step = () => { scrollBy(0, 300); if (document.querySelector('[data-place="300"]') === null) requestAnimationFrame(step) }
      step()
    })`)
    expect(most).toBe(10)
  })

  it('shows a folded loop as one block of the axis, as wide as its duration, and its rounds once opened', async () => {
    await browser.open(fileOf('axis', { c: longConversation(20, 10) }))
    const loop = 'document.querySelector(".lanes .fold.loop")'
    expect(await browser.evaluate(`${loop}.querySelector("text").textContent`)).toMatch(
      /^loop: rounds 11 to 20, \d+ ms$/,
    )
    const share = `${loop}.getBoundingClientRect().width / document.querySelector(".lanes").clientWidth`
    expect(await browser.evaluate<number>(share)).toBeGreaterThan(0.4)
    await browser.evaluate('document.querySelector(".loop-head").click()')
    expect(await browser.evaluate(loop)).toBeNull()
    expect(
      await browser.evaluate('[...document.querySelectorAll(".cell title")].at(-1).textContent'),
    ).toMatch(/^round 20, /)
  })

  it('limits the time axis to the available room with many turns, and reacts to a click on it', async () => {
    await browser.open(
      fileOf('turns', { c: inTurns(Array.from({ length: 1_000 }, answeredTurn), 5_000) }),
    )
    // The page draws the axis in a later frame.
    while (await browser.evaluate('document.querySelector(".cell title") === null'))
      await new Promise((resolve) => setTimeout(resolve, 20))
    expect(
      await browser.evaluate<number>('document.querySelectorAll(".lanes *").length'),
    ).toBeLessThan(200)
    expect(await browser.evaluate('document.querySelector(".cell title").textContent')).toBe(
      'turns 1 to 1000, 1,000 rounds',
    )
    await browser.evaluate(`(() => {
      const lanes = document.querySelector(".lanes")
      const { right, top } = lanes.getBoundingClientRect()
      lanes.dispatchEvent(new MouseEvent("click", { clientX: right, clientY: top + 40 }))
    })()`)
    expect(await focused()).toBe('1999')
  })

  it('keeps a text of any length inside its row, with the mark next to it visible', async () => {
    const log = conversationLog()
    const reply = response({ text: 'It is a long story, and it goes on and on. '.repeat(20) })
    log.begin()
    log.ask(1, { callsLeft: 0 })
    log.answer(1, reply)
    log.check(1, reply)
    log.conclude(1, reply)
    log.end(reply.text)
    for (const width of [390, 800, 1200]) {
      await browser.send('Emulation.setDeviceMetricsOverride', {
        width,
        height: 800,
        deviceScaleFactor: 1,
        mobile: false,
      })
      await browser.open(fileOf('text', { c: log.records }))
      const overlap =
        'document.querySelector(".flags").getBoundingClientRect().right - document.querySelector(".round-head").getBoundingClientRect().right'
      expect(await browser.evaluate<number>(overlap)).toBeLessThanOrEqual(0)
    }
  })

  it('shows that the log had deleted the beginning', async () => {
    const left = longConversation(9, 0).filter(
      ({ message }) =>
        message?.type !== 'user-message' && !(message && 'round' in message && message.round < 4),
    )
    await browser.open(fileOf('cut', { c: left }))
    expect(await browser.evaluate('document.querySelector(".missing").textContent')).toBe(
      'The beginning of this turn is missing: the log had deleted it. The first round here is round 4. Rounds, times and tokens cover only the rest.',
    )
    await browser.open(fileOf('whole', { c: longConversation(9, 0) }))
    expect(await browser.evaluate('document.querySelector(".missing")')).toBeNull()
  })

  it('fits into a narrow window, including opened rows', async () => {
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width: 390,
      height: 800,
      deviceScaleFactor: 1,
      mobile: false,
    })
    await browser.open(fileOf('narrow', { c: longConversation(12, 5) }))
    await browser.evaluate('document.querySelectorAll(".loop-head").forEach((one) => one.click())')
    await browser.evaluate('document.querySelectorAll(".round-head").forEach((one) => one.click())')
    expect(await browser.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(
      await browser.evaluate(
        '[...new Set([...document.querySelectorAll(".round-head")].map((one) => one.offsetHeight))]',
      ),
    ).toHaveLength(1)
  })

  it('shows an index of several conversations, loops first, and each conversation by its address', async () => {
    await browser.open(
      fileOf('several', { one: longConversation(3, 0), two: longConversation(8, 5) }),
    )
    const texts = (what: string) =>
      browser.evaluate<string[]>(
        `[...document.querySelectorAll(${JSON.stringify(what)})].map((one) => one.textContent)`,
      )
    expect(await texts('h1')).toEqual(['2 conversations: 1 caught in a loop, 1 without an answer.'])
    expect(await texts('h2')).toEqual(
      expect.arrayContaining(['Caught in a loop 1', 'Ended without an answer 1']),
    )
    expect(await texts('ol a')).toEqual(['two', 'one'])
    expect(await texts('.size b')).toEqual(['63 % loop'])
    await browser.evaluate('document.querySelector("ol a").click()')
    await until('document.querySelector(".loop-title") !== null')
    expect(await browser.evaluate('document.querySelector(".loop-title").textContent')).toBe(
      'Loop: rounds 4 to 8',
    )
    expect(browser.problems).toEqual([])
  })
})
