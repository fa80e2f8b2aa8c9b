// The chat server of the guide, as a user runs it: its streams, its history, and its page in a real
// browser if the machine has one.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { findChromium, openChromium } from '../support/chromium.ts'
import { until } from '../support/inbox.ts'
import { anywhere, type ExampleFolder, openExampleFolder, withModel } from './examples.ts'

const question = 'Do I need a coat in Paris?'
const chromium = findChromium()
const inBrowser = chromium === undefined ? it.skip : it

let example: ExampleFolder
let server: ChildProcess
let url: string

beforeAll(async () => {
  example = await openExampleFolder()
  const source = await readFile(new URL('chat-server.ts', import.meta.url), 'utf8')
  const program = join(example.folder, 'chat-server.mts')
  await writeFile(program, anywhere(withModel(source, example.url)))
  server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    cwd: example.folder,
    env: { PATH: process.env.PATH, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (server.stdout === null) throw new Error('no output')
  const [printed] = await once(server.stdout, 'data')
  url = `http://127.0.0.1:${/port: (\d+)/.exec(String(printed))?.[1]}`
})

afterAll(async () => {
  const exited = once(server, 'exit')
  server.kill()
  await exited
  await example.close()
})

describe('the chat server', () => {
  it('streams the events of a turn, and has its cards in the history', async () => {
    const answer = await fetch(`${url}/ask`, { method: 'POST', body: question })
    const events = (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events).toContainEqual(
      expect.objectContaining({
        ...{ type: 'call-finished', name: 'get_weather', status: 'ok' },
        result: '18 °C and rain in Paris',
      }),
    )
    expect(events.at(-1)).toMatchObject({ type: 'turn-finished', reply: 'Take one: it rains.' })
    expect(await (await fetch(`${url}/messages`)).json()).toMatchObject([
      { role: 'user', text: question },
      { role: 'assistant', text: 'I look.', calls: [{ name: 'get_weather', status: 'ok' }] },
      { role: 'assistant', text: 'Take one: it rains.' },
    ])
  })

  it('goes on after a question that Weir refuses', async () => {
    await expect(fetch(`${url}/ask`, { method: 'POST', body: ' ' })).rejects.toThrow()
    expect((await fetch(`${url}/messages`)).status).toBe(200)
  })

  inBrowser('shows the same page while a turn runs and after a reload', async () => {
    const browser = await openChromium(chromium ?? '')
    try {
      const lines = () =>
        browser.evaluate<string[]>(
          `[...document.querySelectorAll('#chat p')].map((line) => line.textContent).filter(Boolean)`,
        )
      const shown = ['I look.', 'get_weather: ok 18 °C and rain in Paris', 'Take one: it rains.']
      await browser.send('Page.navigate', { url })
      await until(async () => (await lines()).length > 0)
      const before = await lines()
      await browser.evaluate(`ask(${JSON.stringify(question)})`)
      expect(await lines()).toEqual([...before, question, ...shown])
      await browser.send('Page.navigate', { url: `${url}/again` })
      await until(async () => (await lines()).length > before.length)
      expect(await lines()).toEqual([...before, question, ...shown])
      expect(browser.problems.filter((problem) => !problem.includes('favicon'))).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
