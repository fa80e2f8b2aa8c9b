// The chat server of the guide, as a user runs it, without a key and with a provider. The client is the AI
// SDK's own, as in a page with useChat.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { PageChat } from '../apps/http/edge/ui-stream/page-chat.ts'
import { anywhere } from '../support/anywhere.ts'
import { compiled } from '../support/compiled.ts'
import { type ExampleFolder, openExampleFolder, withModel } from './examples.ts'

const question = 'Do I need a coat in Paris?'
const authorization = (user: string) =>
  `Basic ${Buffer.from(`${user}:secret-of-${user}`).toString('base64')}`

describe.each([
  { title: 'with a provider', key: { ANTHROPIC_API_KEY: 'none' }, reply: 'Take one: it rains.' },
  { title: 'without a key', key: {}, reply: 'I found this: 18 °C and rain in Paris.' },
])('the chat server $title', ({ key, reply }) => {
  let example: ExampleFolder
  let server: ChildProcess
  let url: string

  /** The page of a user, with the messages that the server has. */
  async function page(user: string, id: string): Promise<PageChat> {
    const headers = { authorization: authorization(user) }
    const messages = (await (
      await fetch(`${url}/v1/ui-stream/${id}`, { headers })
    ).json()) as UIMessage[]
    const transport = new DefaultChatTransport({ api: `${url}/v1/ui-stream`, headers })
    return new PageChat('', { id, messages, transport })
  }

  beforeAll(async () => {
    example = await openExampleFolder()
    const source = await readFile(new URL('chat-server.ts', import.meta.url), 'utf8')
    const program = join(example.folder, 'chat-server.mts')
    await writeFile(program, anywhere(withModel(source, example.url)))
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
    expect((await fetch(`${url}/v1/ui-stream/coat`)).status).toBe(401)
    const headers = { authorization: `Basic ${Buffer.from('ada:guessed').toString('base64')}` }
    expect((await fetch(`${url}/v1/ui-stream/coat`, { headers })).status).toBe(401)
  })

  it('shows the same messages while a turn runs and after a reload', async () => {
    const chat = await page('ada', 'coat')
    await chat.sendMessage({ text: question })
    const shown = [
      { type: 'text', text: 'I look.' },
      { toolName: 'get_weather', input: { city: 'Paris' }, output: '18 °C and rain in Paris' },
      { type: 'text', text: reply },
    ]
    expect(chat.shown).toMatchObject(shown)
    const again = await page('ada', 'coat')
    expect(again.shown).toMatchObject(shown)
    expect(again.messages.map(({ id, role }) => [id, role])).toEqual(
      chat.messages.map(({ id, role }) => [id, role]),
    )
    await again.sendMessage({ text: question })
    expect(again.shown).toMatchObject(shown)
    expect((await page('ada', 'coat')).messages).toHaveLength(4)
  })

  it('gives the tool the user who has signed in', async () => {
    const chat = await page('bob', 'orders')
    await chat.sendMessage({ text: 'What did I order?' })
    expect(chat.shown).toContainEqual(expect.objectContaining({ output: '1 lamp to Paris' }))
  })

  it('shows a user no chat of another user', async () => {
    expect((await page('bob', 'coat')).messages).toEqual([])
  })

  const withProvider = 'ANTHROPIC_API_KEY' in key ? it : it.skip
  withProvider('shows the reply of a failed turn in the history too', async () => {
    const chat = await page('ada', 'failed')
    await chat.sendMessage({ text: 'A wrong key' })
    const { shown } = await page('ada', 'failed')
    expect(shown).toMatchObject([
      { type: 'text', text: expect.stringContaining('I could not complete this request.') },
    ])
  })
})
