// The chat server of the guide, as a user runs it, without a key and with a provider. Its page runs in
// a real browser if the machine has one.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { findChromium, openChromium } from '../support/chromium.ts'
import { compiled } from '../support/compiled.ts'
import { until } from '../support/inbox.ts'
import { anywhere, type ExampleFolder, openExampleFolder, withModel } from './examples.ts'

const question = 'Do I need a coat in Paris?'
const chromium = findChromium()
const inBrowser = chromium === undefined ? it.skip : it
const authorization = (user: string) =>
  `Basic ${Buffer.from(`${user}:secret-of-${user}`).toString('base64')}`

describe.each([
  { title: 'with a provider', key: { ANTHROPIC_API_KEY: 'none' }, reply: 'Take one: it rains.' },
  { title: 'without a key', key: {}, reply: 'I found this: 18 °C and rain in Paris.' },
])('the chat server $title', ({ key, reply }) => {
  let example: ExampleFolder
  let server: ChildProcess
  let url: string

  const get = async (user: string, path: string) =>
    (await fetch(url + path, { headers: { authorization: authorization(user) } })).text()

  async function ask(user: string, chat: string, fields: object) {
    const answer = await fetch(`${url}/chats/${chat}`, {
      method: 'POST',
      headers: { authorization: authorization(user), 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    })
    return { status: answer.status, events: linesIn(await answer.text()) }
  }

  beforeAll(async () => {
    example = await openExampleFolder()
    const source = await readFile(new URL('chat-server.ts', import.meta.url), 'utf8')
    const program = join(example.folder, 'chat-server.mts')
    await writeFile(program, anywhere(withModel(source, example.url)))
    await cp(new URL('chat-server.html', import.meta.url), join(example.folder, 'chat-server.html'))
    server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      cwd: example.folder,
      env: { PATH: process.env.PATH, PORT: '0', ...key, ...compiled },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (server.stdout === null) throw new Error('no output')
    const [printed] = await once(server.stdout, 'data')
    url = `http://127.0.0.1:${/port: (\d+)/.exec(String(printed))?.[1]}`
  })

  afterAll(async () => {
    const exited = once(server, 'exit')
    server.kill()
    expect(await exited).toEqual([0, null])
    await example.close()
  })

  it('asks everyone to sign in', async () => {
    expect((await fetch(url)).status).toBe(401)
    const headers = { authorization: `Basic ${Buffer.from('ada:guessed').toString('base64')}` }
    expect((await fetch(url, { headers })).status).toBe(401)
  })

  it('streams the events of a turn, and has its cards in the history', async () => {
    const { events } = await ask('ada', 'coat', { question })
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'tool-started',
        name: 'get_weather',
        input: { city: 'Paris' },
      }),
    )
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'call-finished',
        name: 'get_weather',
        status: 'ok',
        result: '18 °C and rain in Paris',
      }),
    )
    expect(events.at(-1)).toMatchObject({ type: 'turn-finished', reply })
    expect(JSON.parse(await get('ada', '/chats/coat'))).toMatchObject({
      running: null,
      messages: [
        { role: 'user', text: question },
        {
          role: 'assistant',
          text: 'I look.',
          calls: [{ name: 'get_weather', input: { city: 'Paris' }, status: 'ok' }],
        },
        { role: 'assistant', text: reply },
      ],
    })
  })

  const withProvider = 'ANTHROPIC_API_KEY' in key ? it : it.skip
  withProvider('shows the reply of a failed turn in the history too', async () => {
    const { events } = await ask('ada', 'failed', { question: 'A wrong key' })
    const { reply: fallback } = events.at(-1) as { reply: string }
    expect(fallback).toContain('I could not complete this request.')
    expect(JSON.parse(await get('ada', '/chats/failed'))).toEqual({
      running: null,
      messages: [
        expect.objectContaining({ role: 'user', text: 'A wrong key' }),
        { role: 'note', turn: expect.any(Number), text: fallback },
      ],
    })
  })

  it('answers a repeated request with the same turn, and gives its events again', async () => {
    const first = await ask('ada', 'twice', { question, messageId: 'm1' })
    const again = await ask('ada', 'twice', { question, messageId: 'm1' })
    const { turn } = first.events[0] as { turn: number }
    expect(again.events.at(-1)).toEqual(first.events.at(-1))
    const later = linesIn(await get('ada', `/chats/twice/events?turn=${turn}`))
    expect(later[0]).toMatchObject({ type: 'turn-started', turn })
    expect(later.at(-1)).toMatchObject({ type: 'turn-finished', reply })
  })

  it('shows a user no conversation of another user', async () => {
    await ask('ada', 'coat', { question })
    expect(JSON.parse(await get('bob', '/chats/coat'))).toEqual({ messages: [], running: null })
    await ask('bob', 'mine', { question })
    expect(JSON.parse(await get('bob', '/chats'))).toEqual([{ chat: 'mine', question }])
  })

  it('goes on after a question that Weir refuses, and after a form of another site', async () => {
    expect((await ask('ada', 'coat', { question: ' ' })).status).toBe(500)
    const headers = { authorization: authorization('ada'), 'content-type': 'text/plain' }
    const { status } = await fetch(`${url}/chats/coat`, { method: 'POST', headers, body: '{}' })
    expect(status).toBe(415)
    expect(await get('ada', '/chats')).toContain('coat')
  })

  it('gives the tool the user who has signed in', async () => {
    const { events } = await ask('bob', 'orders', { question: 'What did I order?' })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'call-finished', result: '1 lamp to Paris' }),
    )
  })

  inBrowser('shows the same page while a turn runs and after a reload', async () => {
    const browser = await openChromium(chromium ?? '')
    try {
      const lines = () =>
        browser.evaluate<string[]>(
          `[...document.querySelectorAll('main p, summary, pre')].map((line) => line.textContent).filter(Boolean)`,
        )
      const shown = [question, 'I look.', 'get_weather: ok', '{"city":"Paris"}']
      const page = [...shown, '18 °C and rain in Paris', reply]
      await browser.send('Network.enable')
      await browser.send('Network.setExtraHTTPHeaders', {
        headers: { authorization: authorization('ada') },
      })
      await browser.send('Page.navigate', { url: `${url}/#browser` })
      await until(async () =>
        browser.evaluate<boolean>(`document.querySelector('form')?.onsubmit instanceof Function`),
      )
      await browser.evaluate(`
        document.querySelector('input').value = ${JSON.stringify(question)}
        document.querySelector('form').requestSubmit()`)
      await until(async () => (await lines()).includes(reply))
      expect(await lines()).toEqual(page)
      await browser.send('Page.navigate', { url: `${url}/again#browser` })
      await until(async () => (await lines()).includes(reply))
      expect(await lines()).toEqual(page)
      expect(browser.problems.filter((problem) => !problem.includes('favicon'))).toEqual([])
    } finally {
      await browser.close()
    }
  })
})

function linesIn(text: string): Record<string, unknown>[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}
