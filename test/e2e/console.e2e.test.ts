// The console in a real browser: approvals in two tabs, hostile text, a long list, the keys, and the
// policy of the page.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { consoleAddress } from '../../apps/http/console/console-assets.ts'
import { createApiKey } from '../../apps/http/edge/access/api-keys.ts'
import { budgetChange } from '../../apps/service/budgets/change.ts'
import { changeSetting } from '../../apps/service/setting-command.ts'
import { call, says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, defineTool } from '../../client/weir.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { consoleServer } from '../apps/http/console/console-server.ts'
import { writeLetterOfBytes, writeMisplacedMessage } from '../apps/http/console/write-letters.ts'
import { hostileTexts } from '../apps/report/hostile-conversation.ts'
import { findChromium, type TraceEvent, tasksIn } from '../support/chromium.ts'
import { output } from '../support/output.ts'

const program = findChromium()
const withBrowser = program === undefined ? describe.skip : describe

let browser: Browser
let ran: unknown[] = []

beforeAll(async () => {
  if (program === undefined) return
  const switches = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
  const quiet = ['background-networking', 'component-update', 'sync', 'dev-shm-usage']
  const args = [...switches, ...quiet.map((name) => `--disable-${name}`)]
  browser = await chromium.launch({ executablePath: program, headless: true, args })
})
afterAll(async () => browser?.close())

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys a service.',
  parameters: { type: 'object', properties: { env: { type: 'string' } } },
  run(input) {
    ran.push(input)
    return 'deployed'
  },
})

/** A tool that runs an agent, whose call of `deploy` waits for a person if `deploys`. */
function askDigger({ deploys = false } = {}) {
  const replies = deploys ? [says(call('deploy', { env: 'dig' })), says('Dug.')] : [says('Dug.')]
  const model = scriptedModel(...replies)
  const digger = defineAgent({ name: 'digger', model, system: 'Dig.', tools: [deploy] })
  return defineTool({ agent: digger, name: 'ask_digger', description: 'Digs.' })
}

const approvals = { rules: [{ name: 'production', tools: ['deploy'] }], waitMs: 3_600_000 }

/** The page is drawn again each second, also while a person types. */
const redraw = `new Promise((resolve) => {
  dispatchEvent(new Event('resize'))
  requestAnimationFrame(() => requestAnimationFrame(resolve))
})`

/** A tab with the page, and the problems that it reports. */
async function tab(context: BrowserContext, url: string): Promise<Page & { problems: string[] }> {
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.goto(url)
  return Object.assign(page, { problems })
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules of axe-core that the page breaks, each with its elements. */
async function accessFaults(page: Page): Promise<{ rule: string; nodes: string[] }[]> {
  await page.evaluate(`globalThis.axe === undefined && ${axe}`)
  return page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.map(({ id, nodes }) => ({ rule: id, nodes: nodes.map(({ html }) => html.slice(0, 120)) })))`)
}

withBrowser('the console', () => {
  it('shows a decision of one tab in the other, its exact arguments, and why the model calls', async () => {
    ran = []
    await using server = await consoleServer(
      [says('All checks passed.', call('deploy', { env: 'prod' })), says('Done.')],
      { tools: [deploy], approvals },
    )
    await using context = await browser.newContext()
    const first = await tab(context, `${server.url}/console#/approvals`)
    const second = await tab(context, `${server.url}/console#/approvals`)
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await first.waitForSelector('[data-call]')
    await second.waitForSelector('[data-call]')
    expect(await first.textContent('[data-call] pre')).toBe('{"env":"prod"}')
    await first.waitForSelector('.asked:has-text("go"):has-text("All checks passed.")')
    expect(await second.title()).toMatch(/^\(1\) Approvals/)
    await first.waitForSelector('text=1 other page of the console is open')

    await first.keyboard.press('j')
    await first.keyboard.press('a')
    await second.waitForSelector('[data-outcome=allow]')
    expect(await second.locator('[data-call]').count()).toBe(0)
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
    expect(ran).toEqual([{ env: 'prod' }])
    expect([...first.problems, ...second.problems]).toEqual([])
  })

  it('denies with a reason by keys only, and compares a call with the last allowed one', async () => {
    ran = []
    await using server = await consoleServer(
      [
        says(call('deploy', { env: 'test', size: 1 })),
        says(call('deploy', { env: 'prod', size: 1 })),
        says('I stop.'),
      ],
      { tools: [deploy], approvals },
    )
    await using context = await browser.newContext()
    const page = await tab(context, `${server.url}/console`)
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await page.keyboard.press('2')
    await page.waitForSelector('[data-call]')
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await page.waitForSelector('.difference')
    expect(await page.textContent('.difference del')).toBe('test')
    expect(await page.textContent('.difference ins')).toBe('prod')
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await page.keyboard.type('not on a Friday')
    await page.keyboard.press('Enter')
    await page.waitForSelector('[data-outcome=deny]')
    expect(await page.textContent('[data-outcome=deny]')).toContain('not on a Friday')
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
    expect(ran).toEqual([{ env: 'test', size: 1 }])
    expect(page.problems).toEqual([])
  })

  it('shows the decision that counts to the person whose own came too late', async () => {
    await using server = await consoleServer(
      [says(call('deploy', { env: 'prod' })), says('I stop.')],
      { tools: [deploy], approvals },
    )
    await using context = await browser.newContext()
    const page = await tab(context, `${server.url}/console#/approvals`)
    await page.route('**/console/api/decide', async (route) => {
      const [waiting] = await server.weir.approvals()
      await server.weir.deny(waiting?.id ?? '', { by: 'bob' })
      await page.waitForSelector('[data-outcome=deny]')
      await route.continue()
    })
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await page.waitForSelector('[data-call]')
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await page.waitForSelector('[role=status]:has-text("was denied by bob (claimed)")')
    expect(await page.textContent('[data-outcome=deny]')).toContain('by bob (claimed)')
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
    await page.keyboard.press('1')
    await page.keyboard.press('2')
    await page.waitForSelector('text=Decided lately')
    expect(await page.locator('text=Nothing was changed').count()).toBe(0)
    expect(page.problems).toEqual([])
  })

  it('marks no name that a key proves as claimed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-keys-'))
    const apiKeys = join(folder, 'keys.json')
    const key = createApiKey(apiKeys, { name: 'ann', tenant: null, roles: ['read', 'decide'] })
    await using server = await consoleServer(
      [says(call('deploy', { env: 'prod' })), says('I stop.')],
      { tools: [deploy], approvals, access: { apiKeys } },
    )
    await using context = await browser.newContext()
    const page = await tab(context, `${server.url}/console#/approvals`)
    await page.fill('input[name=key]', key)
    await page.keyboard.press('Enter')
    server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' }).finished.catch(() => {})
    await page.waitForSelector('[data-call]')
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await page.waitForSelector('[data-outcome=allow]:has-text("by ann (API key)")')
    expect(await page.locator('text=claimed').count()).toBe(0)
    rmSync(folder, { recursive: true })
  })

  it('shows a call that nobody answered otherwise than a denied one', async () => {
    await using server = await consoleServer(
      [says(call('deploy', { env: 'prod' })), says('I stop.')],
      { tools: [deploy], approvals: { ...approvals, waitMs: 1_000 } },
    )
    await using context = await browser.newContext()
    const page = await tab(context, `${server.url}/console#/approvals`)
    await server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' }).finished
    const line = await page.waitForSelector('[data-outcome=expired]')
    expect(await line.textContent()).toContain('nobody answered in time')
    expect(await page.locator('[data-outcome=deny]').count()).toBe(0)
    await page.keyboard.press('1')
    await page.waitForSelector('text=nobody answered')
    expect(await page.locator("text=a person's no").count()).toBe(0)
  })

  it('shows a new turn in the open report, and stops a turn by keys after a confirmation', async () => {
    await using server = await consoleServer(
      [says('Hello.'), says(call('deploy', { env: 'prod' }))],
      {
        tools: [deploy],
        approvals,
      },
    )
    await using context = await browser.newContext()
    await server.weir.ask({ agent: 'helper', text: 'hi', conversation: 'c' }).finished
    const page = await tab(context, `${server.url}/console#/conversation/c`)
    await page.waitForSelector('text=Rounds of turn 1')
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await page.waitForSelector('.turn-row:has-text("Turn 2")')

    await page.keyboard.press('1')
    await page.waitForSelector('.badge.person')
    await page.locator('.wide button').focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open]')
    await page.locator('dialog button.danger').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=The end of 1 turn is requested.')
    await page.keyboard.press('Escape')
    await page.waitForSelector('text=No turn is open')
    expect(await turn.finished).toMatchObject({ outcome: 'cancelled' })
    expect(page.problems).toEqual([])
  })

  it('leads from a conversation to its tree, and stops the tree after a confirmation', async () => {
    await using server = await consoleServer([says(call('ask_digger', { task: 'Dig.' }))], {
      tools: [askDigger({ deploys: true })],
      approvals,
    })
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await using context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await tab(context, `${server.url}/console#/now`)
    await page.waitForSelector('.open-turns tbody tr >> nth=1')
    await page.click('.open-turns button >> nth=0')
    await page.waitForSelector('dialog[open] h3:has-text("The tree of agents c")')
    await page.keyboard.press('Escape')

    await page.goto(`${server.url}/console#/conversation/c`)
    await page.click('a:has-text("Tree of 2 conversations")')
    await page.waitForSelector('[data-line^="call/c/"]:has-text("digger"):has-text("open")')
    expect(await page.locator('[data-line]').count()).toBe(2)
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
    await page.click('button:has-text("Stop tree…")')
    await page.fill('dialog input[name=reason]', 'a storm')
    await page.selectOption('dialog select', 'now')
    await page.waitForSelector('dialog pre:has-text("--now")') // the page draws after the event
    expect(await page.textContent('dialog pre')).toBe("weir stop --tree c --now --reason 'a storm'")
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('text=The tree c is stopped.')
    expect(await turn.finished).toMatchObject({ outcome: 'failed', class: 'stopped' })
    await page.waitForSelector('.figures .bad:has-text("1 stopped")')
    expect(page.problems).toEqual([])
  })

  it('keeps the focus and an open record of a live report when a turn arrives, and shows its help', async () => {
    await using server = await consoleServer([says('Hello.'), says('Hello again.')])
    await using context = await browser.newContext()
    await server.weir.ask({ agent: 'helper', text: 'hi', conversation: 'c' }).finished
    const page = await tab(context, `${server.url}/console#/conversation/c`)
    await page.click('button:has-text("Help")')
    await page.waitForSelector('dialog[open]:has-text("How to read this")')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
    await page.click('.round-head')
    await page.click('.round-row .records > summary')
    await page.click('.round-row .record >> nth=0')
    await page.waitForSelector('.round-row .record pre')
    await page.locator('.round-head').focus()
    await server.weir.ask({ agent: 'helper', text: 'again', conversation: 'c' }).finished
    await page.waitForSelector('.turn-row:has-text("Turn 2")')
    expect(await page.evaluate('document.activeElement.className')).toBe('head round-head')
    expect(await page.locator('.round-row .record[open] pre').count()).toBe(1)
    expect(page.problems).toEqual([])
  })

  it('keeps the search of a live report when a turn arrives, also a half-typed one', async () => {
    await using server = await consoleServer([says('Hello.'), says('Hello again.')])
    await using context = await browser.newContext()
    await server.weir.ask({ agent: 'helper', text: 'hi', conversation: 'c' }).finished
    const page = await tab(context, `${server.url}/console#/conversation/c`)
    const search = 'input[aria-label="Search rounds"]'
    await page.fill(search, 'again')
    await server.weir.ask({ agent: 'helper', text: 'more', conversation: 'c' }).finished
    await page.waitForSelector('.turn-row:has-text("Turn 2")')
    expect(await page.inputValue(search)).toBe('again')
    await page.waitForSelector('.toolbar output:has-text("1 round")')
    expect(await page.locator('.round-row').count()).toBe(1)
    await page.check('input[name=kind][value=failed]')
    await page.waitForSelector('.toolbar output:has-text("0 rounds")')
    expect(page.problems).toEqual([])
  })

  it('has a heading while a page reads its data, and after a page that cannot be read', async () => {
    await using server = await consoleServer([says('Hello.')])
    await using context = await browser.newContext()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await context.route(/console\/api\/(conversation\?|dead-letters)/, async (route) => {
      await released
      await route.abort()
    })
    for (const [path, title] of [
      ['conversation/c', 'c'],
      ['letters', 'Dead letters'],
    ]) {
      const page = await tab(context, `${server.url}/console#/${path}`)
      await page.waitForSelector('main [role=status]:has-text("Reading the")')
      expect(await page.locator('h1').allTextContents()).toEqual([title])
      expect(await accessFaults(page)).toEqual([])
    }
    release()
    for (const page of context.pages()) {
      await page.waitForSelector('[role=alert]')
      expect(await page.locator('h1').count()).toBe(1)
    }
  })

  it('calls no open turn of a live report finished, and closes the dialog with its page', async () => {
    await using server = await consoleServer([says(call('deploy', { env: 'prod' }))], {
      tools: [deploy],
      approvals,
    })
    server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' }).finished.catch(() => {})
    await using context = await browser.newContext()
    const page = await tab(context, `${server.url}/console#/approvals`)
    await page.waitForSelector('[data-call]')
    await page.goto(`${server.url}/console#/conversation/c`)
    await page.waitForSelector('.sentence:has-text("Running, in round 1")')
    expect(await page.textContent('.origin')).toMatch(/live$/)
    await page.click('.conversation-bar button.danger')
    await page.waitForSelector('dialog[open]')
    await page.goBack()
    await page.waitForSelector('[data-call]')
    expect(await page.locator('dialog').count()).toBe(0)
    expect(page.problems).toEqual([])
    await page.goto(`${server.url}/console#/conversation/unknown`)
    await page.waitForSelector('[role=alert]')
    expect(await page.locator('.conversation-bar').count()).toBe(0)
  })

  it('draws each label of the latency of a slow guard as a whole', async () => {
    await using server = await consoleServer([], { approvals })
    await using context = await browser.newContext()
    const page = await context.newPage()
    await page.addInitScript(`(() => {
      window.labels = []
      const { fillText } = CanvasRenderingContext2D.prototype
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        if (/s$/.test(text)) labels.push([text, x - this.measureText(text).width])
        fillText.call(this, text, x, y)
      }
    })()`)
    await page.route('**/console/api/guards', async (route) => {
      const response = await route.fetch()
      const data = (await response.json()) as { now: number; guards: object[] }
      const minutes = Array.from({ length: 60 }, (_, n) => ({
        at: data.now - (60 - n) * 60_000,
        allows: 1,
        denies: 0,
        wouldDeny: 0,
        silent: 0,
        p50Ms: n * 60_000,
      }))
      const guards = data.guards.map((guard) => ({ ...guard, rounds: 60, minutes }))
      await route.fulfill({ json: { ...data, guards } })
    })
    await page.goto(`${server.url}/console#/guards`)
    let labels: [string, number][] = []
    while (!labels.some(([text]) => text === '2,000 s')) {
      await page.evaluate('new Promise(requestAnimationFrame)')
      labels = await page.evaluate('labels')
    }
    expect(labels.filter(([, left]) => left < 0)).toEqual([])
  })

  it('shows a call that waits for its client, the use without progress, and the stages', async () => {
    const fail = defineTool({
      name: 'fail',
      description: 'Fails.',
      parameters: { type: 'object' },
      run() {
        throw new Error('no such file')
      },
    })
    const pick = defineTool({
      name: 'pick',
      description: 'Picks.',
      parameters: { type: 'object' },
      client: true,
    })
    const looping = Array.from({ length: 3 }, () => says(call('fail', { path: '/a' })))
    const replies = [...looping, says('Done.'), says(call('pick')), says('Done.')]
    await using server = await consoleServer(replies, { tools: [fail, pick] })
    await server.weir.ask({ agent: 'helper', text: 'go', conversation: 'a' }).finished
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'b' })
    await using context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await tab(context, `${server.url}/console`)
    const row = page.locator('tr:has(.badge.client)')
    await row.waitFor()
    expect(await row.textContent()).toMatch(/pick \(call-\d+-1-0\)/)
    expect(await page.textContent('[data-spend=helper] td:nth-child(3)')).toBe('2')
    const stage = page.locator('[data-stage=validator]')
    await stage.waitFor()
    expect(await stage.textContent()).toContain('running')
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
    for await (const event of turn)
      if (event.type === 'call-offered')
        await server.weir.conversation('b').sendResult(event, { text: 'today' })
    await page.waitForSelector('text=No turn is open')
    expect(page.problems).toEqual([])
  })

  it('shows dead letters with their records, and writes one again after a confirmation by keys', async () => {
    await using server = await consoleServer([says('Hello.')], { fill: writeLetterOfBytes })
    const hostile = `<img src=x onerror="document.body.dataset.obeyed=7">\u202Egnp.exe`
    await using context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await tab(context, `${server.url}/console`)
    await page.keyboard.press('7')
    await page.waitForSelector('text=1 dead letter')
    await writeMisplacedMessage(server.folder, { conversation: 'c', text: hostile })
    await page.waitForSelector('text=2 dead letters')
    const bytes = page.locator('[data-letter]:has-text("codec.bad-frame")')
    await bytes.locator('button').click()
    await bytes.locator('text=You cannot write it again').waitFor()
    expect(await bytes.locator('.letter-record button').count()).toBe(0)

    const letter = page.locator('[data-letter]:has-text("codec.bad-message")')
    await letter.locator('button').focus()
    await page.keyboard.press('Enter')
    await letter.locator('pre').waitFor()
    expect(await letter.locator('pre').textContent()).toContain('gnp.exe')
    expect(
      await page.evaluate(`({
        obeyed: document.body.dataset.obeyed,
        made: document.querySelectorAll('img').length,
        hidden: /[\\u202a-\\u202e]/.test(document.body.innerText),
        wide: document.documentElement.scrollWidth > innerWidth,
      })`),
    ).toEqual({ made: 0, hidden: false, wide: false })
    await letter.locator('.letter-record button').focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open]')
    await page.locator('dialog button.danger').focus()
    await page.keyboard.press('Enter')
    await letter.locator('text=written again, as client-messages/').waitFor()
    expect(await page.locator('dialog').count()).toBe(0)
    await page.goto(`${server.url}/console#/conversation/c`)
    await page.waitForSelector('text=Rounds of turn 1')
    expect(page.problems).toEqual([])
  })

  it('tries a threshold on recent turns with a slider, and sets it after a confirmation by keys', async () => {
    const fail = defineTool({
      name: 'fail',
      description: 'Fails.',
      parameters: { type: 'object' },
      run() {
        throw new Error('no such file')
      },
    })
    const replies = Array.from({ length: 40 }, () => says(call('fail', { path: '/a' })))
    await using server = await consoleServer(replies, { tools: [fail] })
    await server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' }).finished
    await using context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await tab(context, `${server.url}/console`)
    await page.keyboard.press('4')
    const slider = page.locator('input[type=range]')
    await slider.waitFor()
    expect(await page.textContent('.outcome-text')).toContain('nothing changes in 1 conversation')
    await slider.focus()
    await page.keyboard.press('ArrowLeft')
    await page.waitForSelector('text=With loop.identicalFailures at 2, 1 of 1 conversation')
    await page.waitForSelector('text=goes on')
    await page.locator('button:has-text("Set loop.identicalFailures to 2")').focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open]')
    expect(await page.textContent('dialog pre')).toBe(
      'weir policy set helper loop.identicalFailures=2',
    )
    await page.locator('dialog input').fill('4')
    await page.waitForSelector('text=weir policy set helper loop.identicalFailures=4')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=loop.identicalFailures is 4 for helper.')
    await page.waitForSelector('tr.set:has-text("loop.identicalFailures"):has-text("4")')
    expect(await page.locator('dialog').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
    expect(page.problems).toEqual([])
  })

  it('stops a tool with a reason, shows the stop in another tab as text, and releases it', async () => {
    await using server = await consoleServer([says('Hello.')])
    const reason = `<img src=x onerror="document.body.dataset.obeyed=9">\u202Egnp.exe`
    await using context = await browser.newContext()
    const first = await tab(context, `${server.url}/console#/stops`)
    const second = await tab(context, `${server.url}/console#/stops`)
    await server.weir.ask({ agent: 'helper', text: 'hi', conversation: 'acme:c' }).finished
    await first.click('button:has-text("One tenant…")')
    await first.waitForSelector('datalist option[value=acme]', { state: 'attached' })
    await first.keyboard.press('Escape')
    await first.click('button:has-text("Tools…")')
    await first.fill('dialog input[name=name]', 'pay_*')
    await first.fill('dialog input[name=reason]', reason)
    await first.selectOption('dialog select', 'now')
    await first.waitForSelector(
      `dialog pre:has-text("weir stop --tool 'pay_*' --now --reason '<img")`,
    )
    await first.locator('dialog button[type=submit]').click()
    for (const page of [first, second]) {
      await page.waitForSelector('[data-stop="tool:pay_*"]')
      expect(
        await page.evaluate(`({
          obeyed: document.body.dataset.obeyed,
          made: document.querySelectorAll('img').length,
          hidden: /[\\u202a-\\u202e]/.test(document.body.innerText),
        })`),
      ).toEqual({ made: 0, hidden: false })
    }
    await second.click('[data-stop] button')
    expect(await second.textContent('dialog pre')).toBe("weir release 'tool:pay_*'")
    await second.click('dialog button[type=submit]')
    await first.waitForSelector('text=Nothing is stopped')
    expect([...first.problems, ...second.problems]).toEqual([])
  })

  it('asks for a key without an error, and reports an error after a wrong key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-console-keys-'))
    const file = join(folder, 'keys.json')
    const key = createApiKey(file, { name: 'ann', tenant: null, roles: ['read'] })
    await using server = await consoleServer([], { access: { apiKeys: file } })
    await using context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/console`)
    await page.waitForSelector('text=This server asks for a key')
    expect(await page.locator('[role=alert]').count()).toBe(0)
    await page.fill('input[name=key]', 'wrong')
    const refused = page.waitForResponse(/api\/stages/)
    await page.keyboard.press('Enter')
    await page.waitForSelector('[role=alert]')
    await refused
    const read = Promise.withResolvers<void>()
    await page.route(/api\/stages/, (route) => read.promise.then(() => route.continue()))
    await page.fill('input[name=key]', key)
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=No turn is open')
    expect(await page.locator('[role=alert]').count()).toBe(0)
    read.resolve()
    rmSync(folder, { recursive: true, force: true })
  })

  it('takes the key from the printed address, and removes it there', async () => {
    const ownKey = `weir_${'k'.repeat(43)}`
    await using server = await consoleServer([], { access: { ownKey } })
    await using context = await browser.newContext()
    const page = await tab(context, consoleAddress(server.url, ownKey))
    await page.waitForSelector('text=No turn is open')
    expect(page.url()).toBe(`${server.url}/console#/now`)
    await using other = await browser.newContext()
    const asked = await other.newPage()
    await asked.goto(`${server.url}/console`)
    await asked.waitForSelector('text=This server asks for a key')
    await asked.goto(consoleAddress(server.url, ownKey))
    await asked.waitForSelector('text=No turn is open')
    expect(page.problems).toEqual([])
  })

  it('warns of a used budget, changes budgets and rules, and shows rows before filters on a phone', async () => {
    await using server = await consoleServer([says('Hello.')])
    const settings = readSettings({ dataFolder: server.folder }, {})
    await changeSetting(budgetChange, { window: 'day', tokens: '1' }, settings, {
      out: output().stream,
      errors: output().stream,
    })
    await server.weir.ask({ agent: 'helper', text: 'hi', conversation: 'c' }).finished
    await using context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await tab(context, `${server.url}/console#/budgets`)
    const use = page.locator('td:has(meter)')
    await use.waitFor()
    expect(await use.textContent()).toContain('used up')
    expect(await use.getAttribute('class')).toBe('bad')
    await page.click('[data-budget] button:has-text("Change…")')
    await page.fill('dialog input[name=hard]', '500000')
    await page.waitForSelector(
      'dialog pre:has-text("weir budget set --tenant default --window day --tokens 500000")',
    )
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('text=hard limit 500,000 tokens')
    await page.click('button:has-text("New budget…")')
    await page.fill('dialog input[name=hard]', '20')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('dialog [role=alert]:has-text("give 20USD")')
    await page.fill('dialog input[name=hard]', '20USD')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('[data-budget="default/tenant/day/usd"]')
    await page.click('[data-budget="default/tenant/day/usd"] button:has-text("Remove…")')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('text=default/tenant/day/usd is removed.')
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
    await page.keyboard.press('4')
    await page.click('button:has-text("Set approval rules…")')
    expect(await page.inputValue('dialog textarea')).toContain('"waitMs": 3600000')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('[data-guard=approval]')
    await page.keyboard.press('3')
    await page.waitForSelector('.conversation-row')
    const top = (await page.locator('.rows').boundingBox())?.y
    expect(top).toBeLessThan(400)
    expect(await page.locator('select[name=outcome]').isVisible()).toBe(false)
    await page.click('button:has-text("Filters")')
    await page.selectOption('select[name=outcome]', 'failed')
    await page.waitForSelector('text=Filters (1)')
    await page.waitForSelector('main [role=status]:has-text("0 of 1 conversation")')
    expect(page.url()).toContain('#/conversations?outcome=failed')
    expect(page.problems).toEqual([expect.stringContaining('400')]) // the amount without a currency
  })

  it('reports that a page without its server is old, and is live again without a reload', async () => {
    await using server = await consoleServer([])
    await using context = await browser.newContext()
    await context.route('**/console/api/live', (route) => route.abort())
    const page = await context.newPage()
    await page.goto(`${server.url}/console`)
    await page.waitForSelector('.connection.lost')
    await context.unroute('**/console/api/live')
    await page.waitForSelector('.connection.live')
    await page.waitForSelector('text=No turn is open')
  })

  it('keeps hostile text inert on each page', async () => {
    const all = hostileTexts.filter((text) => text.isWellFormed()).join('\n')
    await using server = await consoleServer(
      [says(call('deploy', { env: all, [`k${hostileTexts[1]}`]: 1 }))],
      { tools: [deploy], approvals },
    )
    await using context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await tab(context, `${server.url}/console#/approvals`)
    const id = `<img src=x onerror="document.body.dataset.obeyed=5">\u202Egnp.exe`
    const turn = server.weir.ask({ agent: 'helper', text: all, conversation: id })
    turn.finished.catch(() => {})
    await page.waitForSelector('[data-call]')
    const isInert = async (selector: string) => {
      await page.waitForSelector(selector)
      const found = await page.evaluate(`({
        obeyed: document.body.dataset.obeyed,
        made: document.querySelectorAll('img, svg[onload], #console script, #page script').length,
        hidden: /[\\u202a-\\u202e\\u2066-\\u2069\\u200b]/.test(document.body.innerText),
        wide: document.documentElement.scrollWidth > innerWidth,
      })`)
      expect(found).toEqual({ made: 0, hidden: false, wide: false })
    }
    await isInert('[data-call]')
    await page.keyboard.press('1')
    await isInert('.badge.person')
    await page.keyboard.press('4')
    await isInert('[data-guard=approval]')
    for (const [key, title] of [
      ['5', 'Nothing is stopped'],
      ['6', 'No budget is in force'],
    ] as const) {
      await page.keyboard.press(key)
      await isInert(`h1:has-text("${title}")`)
    }
    await page.keyboard.press('3')
    await isInert('.conversation-row')
    await page.click('.conversation-row')
    await isInert('.conversation .summary')
    expect(page.problems).toEqual([])
  })

  it('lists past decisions with filters in the address, leads to their conversations, and saves a file', async () => {
    ran = []
    await using server = await consoleServer(
      [says(call('deploy', { env: 'prod' })), says('Done.')],
      { tools: [deploy], approvals },
    )
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await using context = await browser.newContext({ acceptDownloads: true })
    const page = await tab(context, `${server.url}/console#/approvals`)
    await page.waitForSelector('[data-call]')
    const [waiting] = await server.weir.approvals()
    await server.weir.allow(waiting?.id ?? '', { by: 'ann' })
    await turn.finished

    await page.goto(`${server.url}/console#/audit?kind=approval`)
    await page.waitForSelector('[data-entry]:has-text("deploy"):has-text("by ann (claimed)")')
    expect(await page.locator('[data-entry]').count()).toBe(1)
    expect(await page.textContent('[data-entry] pre')).toBe('{"env":"prod"}')
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.click('text=Export OCSF'),
    ])
    expect(saved.suggestedFilename()).toBe('weir-audit-ocsf.jsonl')
    expect(readFileSync(await saved.path(), 'utf8')).toContain('"class_uid":3004')
    await page.selectOption('select[name=kind]', 'stop')
    await page.waitForSelector('text=0 entries')
    expect(new URL(page.url()).hash).toBe('#/audit?kind=stop')
    await page.selectOption('select[name=kind]', 'approval')
    await page.click('[data-entry] a')
    await page.waitForSelector('.round-head')
    expect(page.problems).toEqual([])
  })

  const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }
  it.each<[string, Parameters<Browser['newContext']>[0]]>([
    ['in light', { colorScheme: 'light' }],
    ['in dark', { colorScheme: 'dark' }],
    ['on a phone', phone],
  ])('breaks no rule of axe-core on any page %s', async (_, options) => {
    await using server = await consoleServer(
      [
        says(call('ask_digger', { task: 'Dig.' })),
        says('Hello.'),
        says('I deploy now.', call('deploy', { env: 'prod' })),
      ],
      { tools: [deploy, askDigger()], approvals },
    )
    const settings = readSettings({ dataFolder: server.folder }, {})
    await changeSetting(budgetChange, { window: 'day', tokens: '1000000' }, settings, {
      out: output().stream,
      errors: output().stream,
    })
    await server.weir.ask({ agent: 'helper', text: 'hi', conversation: 'old' }).finished
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    turn.finished.catch(() => {})
    await using context = await browser.newContext(options)
    const page = await tab(context, `${server.url}/console`)
    await page.waitForSelector('.badge.person')
    const faults: unknown[] = []
    const look = async (name: string) => {
      for (const fault of await accessFaults(page)) faults.push({ page: name, ...fault })
    }
    for (const [name, ready] of [
      ['now', '[data-stage]'],
      ['approvals', '.asked'],
      ['conversations', '.conversation-row'],
      ['guards', '[data-guard=approval]'],
      ['stops', 'text=Nothing is stopped'],
      ['budgets', 'meter'],
      ['letters', 'text=No dead letter'],
      ['audit', '[data-entry]'],
      ['conversation/old', 'text=Stop tree…'],
      ['tree/old', '[data-line] >> nth=1'],
    ] as const) {
      await page.goto(`${server.url}/console#/${name}`)
      await page.waitForSelector(ready)
      await look(name)
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
      if (options === phone) expect(await page.locator('kbd:visible').count()).toBe(0)
    }
    await page.goto(`${server.url}/console#/now`)
    await page.click('.wide button')
    await page.waitForSelector('dialog[open]')
    await look('the stop dialog')
    expect(faults).toEqual([])
    await page.evaluate(`document.querySelector('dialog').append(document.createElement('button'))`)
    await look('canary')
    expect(faults).toMatchObject([{ rule: 'button-name' }])
  })

  it('offers the title, the link, the files and a replay of a conversation, and a stop only while a turn runs', async () => {
    ran = []
    await using server = await consoleServer(
      [says(call('deploy', { env: 'prod' })), says(call('deploy', { env: 'prod' })), says('Done.')],
      { tools: [deploy], approvals },
    )
    await using context = await browser.newContext({ acceptDownloads: true })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const page = await tab(context, `${server.url}/console#/approvals`)
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'a b' })
    await page.waitForSelector('[data-call]')
    await page.goto(`${server.url}/console#/conversation/a%20b`)
    await page.waitForSelector('.conversation-bar button:has-text("Stop…")')
    for (let decided = 0; decided < 2; decided += 1) {
      await page.goto(`${server.url}/console#/approvals`)
      await page.click('button.allow')
      await page.waitForSelector(`[data-outcome=allow] >> nth=${decided}`)
    }
    await turn.finished
    await page.goto(`${server.url}/console#/conversation/a%20b`)
    await page.waitForSelector('.round-head')
    expect(await page.locator('.conversation-bar button:has-text("Stop…")').count()).toBe(0)
    await page.click('button:has-text("Rename…")')
    await page.fill('dialog input[name=title]', "Ann's trip")
    await page.waitForSelector('dialog pre:has-text("trip")')
    expect(await page.textContent('dialog pre')).toBe(`weir title 'a b' 'Ann'\\''s trip'`)
    await page.click('dialog button:has-text("Rename")')
    await page.waitForSelector('text=The title is changed.')
    await page.waitForSelector(`.summary:has-text("Ann's trip")`)
    await page.click('button:has-text("Copy link")')
    await page.waitForSelector('text=The link is copied.')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url())
    for (const [label, name, beginning] of [
      ['Download report', 'a_b.html', '<!doctype html>'],
      ['Export', 'a_b.weir', 'SQLite format 3'],
    ] as const) {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.click(`button:has-text("${label}")`),
      ])
      expect(file.suggestedFilename()).toBe(name)
      expect(readFileSync(await file.path(), 'latin1').startsWith(beginning)).toBe(true)
    }
    await page.click('button:has-text("Replay with another rule…")')
    await page.waitForSelector('text=1 turn, the newest of this conversation')
    await page.waitForSelector(
      "text=weir replay --conversation 'a b' --sweep loop.identicalFailures=",
    )
    expect(page.problems).toEqual([])
  })

  it('scrolls through 30,000 conversations without a frame over 50 ms', async () => {
    await using server = await consoleServer([])
    await using context = await browser.newContext()
    const page = await context.newPage()
    const summaries = Array.from({ length: 30_000 }, (_, n) => ({
      conversation: `c${n}`,
      agent: 'helper',
      question: `Question ${n}`,
      turns: 1,
      inputTokens: 1_000,
      outputTokens: 10,
      money: { usd: 12_300_000, requests: 1, unpriced: 0, prices: ['1'] },
      facts: {
        rules: {},
        actions: {},
        denials: {},
        deniedByChecks: 0,
        approvals: {},
        approvalMs: 0,
        unjudged: {},
        isWhole: true,
      },
      last: { outcome: 'answered', class: null, cap: null, reason: null, at: 1_700_000_000_000 },
    }))
    await page.route('**/console/api/conversations?*', (route) => {
      const { searchParams } = new URL(route.request().url())
      const [limit, after] = [Number(searchParams.get('limit')), Number(searchParams.get('after'))]
      const next = after + limit < summaries.length ? `${after + limit}` : null
      const conversations = summaries.slice(after, after + limit)
      const counts = { total: summaries.length, all: summaries.length, behind: 0 }
      return route.fulfill({ json: { conversations, next, ...counts } })
    })
    await page.goto(`${server.url}/console#/conversations`)
    await page.waitForSelector('.conversation-row')
    for (;;) {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      const loaded = await page.getAttribute('.rows [role=listitem]', 'aria-setsize')
      if (loaded === '30000') break
    }
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await page.waitForSelector('[data-place="29999"]')
    expect(await page.locator('.conversation-row').count()).toBeLessThan(100)
    await browser.startTracing(page, { categories: ['toplevel'] })
    await page.evaluate(`(async () => {
      const height = document.body.scrollHeight
      for (let step = 0; step < 120; step += 1) {
        scrollTo(0, (height * ((step * 37) % 120)) / 120)
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
    })()`)
    const trace = JSON.parse((await browser.stopTracing()).toString('utf8'))
    const tasks = tasksIn(trace.traceEvents as TraceEvent[])
    expect(tasks.length).toBeGreaterThan(120)
    expect(Math.max(...tasks)).toBeLessThan(50) // of CPU, so other work on the machine does not count
    expect((await page.textContent('main [role=status]'))?.trim()).toBe('30,000 conversations')
  })

  it('finds words in all conversations, and has its filters in the address', async () => {
    await using server = await consoleServer([says('Paid back.'), says('It rains.'), says('No.')])
    for (const text of ['Refund customer 700', 'The weather?', 'Again?'])
      await server.weir.ask({ agent: 'helper', text }).finished
    await using context = await browser.newContext()
    const page = await tab(context, `${server.url}/console#/conversations`)
    const counts = (text: string) => page.waitForSelector(`main [role=status]:text-is("${text}")`)
    await counts('3 conversations')
    await page.fill('input[type=search]', 'customer paid')
    await counts('1 of 3 conversations')
    expect(page.url()).toContain('#/conversations?text=customer+paid')
    const other = await tab(context, page.url())
    await other.waitForSelector('.conversation-row:has-text("Refund customer 700")')
    expect(await other.inputValue('input[type=search]')).toBe('customer paid')
    await page.fill('input[type=search]', '')
    await counts('3 conversations')
    await page.fill('input[name=agent]', 'helpr')
    await page.evaluate(redraw)
    expect(await page.inputValue('input[name=agent]')).toBe('helpr')
    await page.keyboard.press('Enter')
    await page.waitForSelector('[role=alert]:has-text("Did you mean helper?")')
    expect(await page.textContent('select[name=intervention]')).toContain('allany intervention')
    expect(page.problems).toEqual([expect.stringContaining('400')])
  })
})
